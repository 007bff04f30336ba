import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { texts } from '../../texts/logs.ts';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code/code-editor.tsx';
import type { QueryNames } from '../../ui/code/complete-names.ts';
import { toDetectionQuery } from './simple-query.ts';

type Props = {
  draft: string;
  /** The fields that completion offers. */
  names: QueryNames;
  isRunning: boolean;
  isReset: boolean;
  onChange: (text: string) => void;
  onRun: () => void;
  onReset: () => void;
};

/** The query with completion of the dataset's fields. It runs with Ctrl or Cmd and Enter. */
export function QueryBox({ draft, names, isRunning, isReset, onChange, onRun, onReset }: Props) {
  return (
    <form
      className="flex shrink-0 flex-col gap-2 border-b px-4 pt-2 pb-3"
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      <CodeEditor label={texts.query} language="sql" names={names} value={draft} onChange={onChange} onSubmit={onRun} />
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="primary" type="submit" disabled={isRunning || draft.trim() === ''}>
          <Play className="size-3.5" aria-hidden />
          {isRunning ? texts.running : texts.run}
        </Button>
        {!isReset && (
          <Button kind="quiet" onClick={onReset}>
            {texts.reset}
          </Button>
        )}
        <p className="text-12 text-faint max-md:hidden">{texts.queryHint}</p>
        <Link
          to="/detections/new"
          search={{ query: toDetectionQuery(draft) }}
          className="ml-auto inline-flex h-7 items-center rounded-control border px-2.5 hover:bg-hover"
        >
          {texts.detect}
        </Link>
      </div>
    </form>
  );
}
