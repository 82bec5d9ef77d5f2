// A step that does what @actions/core offers.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import * as core from '@actions/core';

if (process.argv[2] === 'fail') {
    core.setFailed('meant to fail');
} else {
    assert.equal(core.getInput('name', { required: true }), 'Ada');
    assert.equal(core.getBooleanInput('wanted'), true);
    assert.deepEqual(core.getMultilineInput('list'), ['one', 'two']);
    assert.throws(() => core.getInput('missing', { required: true }));
    assert.equal(core.isDebug(), false);
    core.setSecret('hunter22');
    core.exportVariable('HIDDEN', 'hunter22');
    core.exportVariable('GREETING', 'Hello Ada');
    mkdirSync('tools');
    writeFileSync('tools/greet', '#!/bin/sh\necho from the path\n');
    chmodSync('tools/greet', 0o755);
    core.addPath(`${process.cwd()}/tools`);
    core.setOutput('answer', 42);
    core.setOutput('lines', 'first\nsecond');
    core.saveState('kept', 'until the end');
    core.debug('nobody sees this');
    core.info('information');
    core.notice('a notice', { file: 'step.mjs', startLine: 1 });
    core.warning('a warning');
    core.error('an error, that ends nothing');
    await core.group('In a group', async () => core.info('inside'));
    await core.summary.addHeading('Summed up').addTable([[{ data: 'Column', header: true }], ['value']]).write();
}
