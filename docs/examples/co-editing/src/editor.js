// The editor: CodeMirror, bound to a document's shared text.

import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next'
import { defaultKeymap, indentWithTab } from '@codemirror/commands'
import { markdown, markdownKeymap, markdownLanguage } from '@codemirror/lang-markdown'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, drawSelection, highlightSpecialChars, keymap, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { cursors } from './peers.js'

const COLOURS = ['#d6336c', '#1c7ed6', '#2b8a3e', '#e8590c', '#7048e8', '#0c8599', '#a07000', '#c2255c']
const mono = 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace'

const peerStyles = Object.fromEntries(COLOURS.flatMap((colour, number) => [
  [`.caret.peer-${number}`, { borderColor: colour }],
  [`.caret.peer-${number} > .caret-name`, { backgroundColor: colour }],
  [`.peer-selection.peer-${number}`, { backgroundColor: `${colour}38` }]
]))

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '1.0625rem', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'inherit', lineHeight: '1.65', overflow: 'auto' },
  '.cm-content': {
    maxWidth: '44rem',
    margin: '0 auto',
    padding: '0.5rem clamp(1rem, 5vw, 3rem) 40vh',
    caretColor: 'var(--accent)',
    boxSizing: 'border-box'
  },
  '.cm-line': { padding: '0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--selection)'
  },
  '.cm-placeholder': { color: 'var(--faint)' },
  '.caret': {
    position: 'relative',
    borderLeft: '2px solid',
    marginLeft: '-1px',
    marginRight: '-1px',
    wordBreak: 'keep-all'
  },
  '.caret-name': {
    position: 'absolute',
    bottom: '100%',
    left: '-2px',
    padding: '0 0.35rem',
    borderRadius: '0.3rem 0.3rem 0.3rem 0',
    color: '#fff',
    font: '600 0.6875rem/1.45 system-ui, sans-serif',
    whiteSpace: 'nowrap',
    userSelect: 'none',
    pointerEvents: 'none',
    zIndex: '5'
  },
  ...peerStyles
})

const highlighting = HighlightStyle.define([
  { tag: tags.heading1, fontSize: '1.65em', fontWeight: '700', lineHeight: '1.3', letterSpacing: '-0.015em' },
  { tag: tags.heading2, fontSize: '1.35em', fontWeight: '700', lineHeight: '1.35', letterSpacing: '-0.01em' },
  { tag: tags.heading3, fontSize: '1.15em', fontWeight: '650' },
  { tag: [tags.heading4, tags.heading5, tags.heading6], fontWeight: '650' },
  { tag: tags.strong, fontWeight: '700' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: tags.monospace, fontFamily: mono, fontSize: '0.9em', color: 'var(--code)' },
  { tag: tags.link, color: 'var(--accent)' },
  { tag: tags.url, color: 'var(--faint)' },
  { tag: tags.quote, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.labelName], color: 'var(--faint)' }
])

/** An editor of `text` in the shadow of `place`, where the page's policy lets CodeMirror bring its own styles. */
export function openEditor (place, text, awareness, canWrite) {
  const writing = new Compartment()
  const may = yes => [EditorState.readOnly.of(!yes), EditorView.editable.of(yes)]
  const root = place.shadowRoot ?? place.attachShadow({ mode: 'open' })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text.toString(),
      extensions: [
        writing.of(may(canWrite)),
        keymap.of([...yUndoManagerKeymap, ...markdownKeymap, ...defaultKeymap, indentWithTab]),
        highlightSpecialChars(),
        drawSelection(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'Page', spellcheck: 'true', autocapitalize: 'sentences' }),
        placeholder('Write something. Everybody here sees it at once.'),
        markdown({ base: markdownLanguage, addKeymap: false }),
        syntaxHighlighting(highlighting),
        theme,
        yCollab(text, null),
        cursors(text, awareness)
      ]
    })
  })
  return {
    view,
    allow: yes => view.dispatch({ effects: writing.reconfigure(may(yes)) }),
    close: () => view.destroy()
  }
}
