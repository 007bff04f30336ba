import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { texts } from '../../texts/logs.ts';
import { Button } from '../../ui/button.tsx';
import { toDetectionQuery } from './simple-query.ts';

type Props = {
  draft: string;
  isRunning: boolean;
  isReset: boolean;
  onChange: (text: string) => void;
  onRun: () => void;
  onReset: () => void;
};

/** The query, which runs with Ctrl or Cmd and Enter. */
export function QueryBox({ draft, isRunning, isReset, onChange, onRun, onReset }: Props) {
  return (
    <form
      className="flex shrink-0 flex-col gap-2 border-b px-4 pt-2 pb-3"
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      <textarea
        aria-label={texts.query}
        aria-describedby="query-hint"
        value={draft}
        rows={Math.min(10, Math.max(3, draft.split('\n').length))}
        wrap="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
          event.preventDefault();
          onRun();
        }}
        className="w-full resize-y rounded-control border border-line-strong bg-surface px-2.5 py-1.5 font-mono text-12 leading-5"
      />
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
        <p id="query-hint" className="text-12 text-faint max-md:hidden">
          {texts.queryHint}
        </p>
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
