import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { sql, SQLDialect } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { completeNames, type NameStyle, type QueryNames } from './complete-names.ts';

export type CodeEditorProps = {
  label: string;
  value: string;
  onChange?: (value: string) => void;
  language: NameStyle | 'json' | 'text';
  /** Completions besides the words of the language. Undefined until they are known. */
  names?: QueryNames | undefined;
  hint?: string;
  /** Ctrl or Cmd with Enter. */
  onSubmit?: () => void;
};

const colors = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--color-accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--color-good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--color-high)' },
  { tag: tags.comment, color: 'var(--color-faint)' },
  // A line must not break inside `->>`.
  { tag: tags.operator, whiteSpace: 'nowrap' },
  { tag: tags.propertyName, color: 'var(--color-ink)' },
]);

const look = EditorView.theme({
  '&': { fontSize: '0.75rem', color: 'var(--color-ink)', backgroundColor: 'transparent' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.25rem', maxHeight: '28rem', overflow: 'auto' },
  '.cm-content': { padding: '0.5rem 0', minHeight: '6rem', caretColor: 'var(--color-accent)' },
  '.cm-line': { padding: '0 0.75rem' },
  '.cm-cursor': { borderLeftColor: 'var(--color-accent)' },
  '.cm-placeholder': { color: 'var(--color-faint)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--color-selected) !important' },
  '.cm-matchingBracket': { background: 'var(--color-mark)', outline: 'none' },
  '.cm-tooltip': {
    border: 'none',
    borderRadius: '6px',
    background: 'var(--color-raised)',
    boxShadow: 'var(--shadow-float)',
    overflow: 'hidden',
  },
  '.cm-tooltip-autocomplete ul': { fontFamily: 'var(--font-mono)' },
  '.cm-tooltip-autocomplete ul li': { padding: '2px 8px', lineHeight: '1.25rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { background: 'var(--color-selected)', color: 'var(--color-ink)' },
  '.cm-completionDetail': { color: 'var(--color-faint)', fontStyle: 'normal' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--color-accent)' },
});

/** The words of queries, so that columns such as `id` and `event` are not taken for keywords. */
const dialect = SQLDialect.define({
  keywords:
    'select distinct from where group by having order limit offset with recursive as on using join left right full inner outer cross lateral union all intersect except and or not in is null like ilike between exists case when then else end asc desc nulls first last over partition rows range preceding following unbounded current row filter qualify cast try_cast interval true false',
  types: 'varchar bigint integer double boolean timestamp date time json blob text',
  doubleDollarQuotedStrings: true,
});

const sqlSyntax = sql({ dialect, upperCaseKeywords: true });

/** A completion that waits until another one replaces it, which then completes what was typed meanwhile. */
const waitForNames = (): Promise<null> => new Promise(() => undefined);

const syntaxOf = ({ language, names }: Pick<CodeEditorProps, 'language' | 'names'>): Extension => {
  if (language === 'text') return [];
  if (language === 'json') return json();
  const completion = { autocomplete: names ? completeNames(names, language) : waitForNames };
  return [language === 'pipes' ? [] : sqlSyntax, EditorState.languageData.of(() => [completion])];
};

/** The editor itself. It lives in a shadow tree, where its styles need no style element, which the policy of the console forbids. */
export default function CodeMirror(props: CodeEditorProps) {
  const { label, value, language, names, hint } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const latest = useRef(props);
  const syntax = useRef(new Compartment());
  /** The texts that were reported and may still come back as `value`, oldest first. */
  const written = useRef<string[]>([]);
  const isSetting = useRef(false);
  useEffect(() => {
    latest.current = props;
  });
  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          autocompletion({ icons: false }),
          EditorView.lineWrapping,
          syntaxHighlighting(colors),
          look,
          syntax.current.of(syntaxOf(latest.current)),
          placeholder(hint ?? ''),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorState.readOnly.of(latest.current.onChange === undefined),
          // Tab leaves the editor, as it leaves every other field.
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                // Render the latest keystrokes first, so that the query that runs includes them.
                flushSync(() => latest.current.onChange?.(view.current!.state.doc.toString()));
                latest.current.onSubmit?.();
                return true;
              },
            },
            ...completionKeymap,
            ...defaultKeymap,
            ...historyKeymap,
          ]),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (!docChanged || isSetting.current) return;
            written.current.push(state.doc.toString());
            latest.current.onChange?.(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, hint]);
  useEffect(() => {
    view.current?.dispatch({ effects: syntax.current.reconfigure(syntaxOf({ language, names })) });
  }, [language, names]);
  useEffect(() => {
    const editor = view.current;
    // A text that was written here and comes back late must not replace what was written since.
    const own = written.current.lastIndexOf(value);
    if (own >= 0) written.current.splice(0, own);
    if (!editor || own >= 0 || editor.state.doc.toString() === value) return;
    written.current = [];
    isSetting.current = true;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    isSetting.current = false;
  }, [value]);
  return <div ref={host} data-editor={label} />;
}
