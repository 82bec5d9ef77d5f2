import assert from 'node:assert/strict';
import test from 'node:test';
import semver from 'semver';

test('the newest version that fits is found', () => {
    assert.equal(semver.maxSatisfying(['1.2.3', '1.9.0', '2.0.0'], '^1.2.0'), '1.9.0');
});

test('what comes before a release is older', () => {
    assert.ok(semver.lt('1.0.0-rc.1', '1.0.0'));
});
