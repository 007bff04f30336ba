import { lazy, Suspense } from 'react';
import type { CodeEditorProps } from './code-mirror.tsx';

const CodeMirror = lazy(() => import('./code-mirror.tsx'));

/** An editor for SQL, JSON or plain text. Its code is loaded when the first one appears; until then the text is shown as it is. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <div className="overflow-hidden rounded-control border border-line-strong bg-surface focus-within:border-accent">
      <Suspense
        fallback={
          <pre className="min-h-24 overflow-hidden px-3 py-2 font-mono text-12 leading-5 whitespace-pre-wrap">
            {props.value}
          </pre>
        }
      >
        <CodeMirror {...props} />
      </Suspense>
    </div>
  );
}
