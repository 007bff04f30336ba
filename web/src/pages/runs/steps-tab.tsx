import { useInfiniteQuery } from '@tanstack/react-query';
import { runStepsQuery, type RunStep } from '../../api/runs.ts';
import { formatMoney, formatNumber } from '../../lib/text.ts';
import { formatClock, formatDuration } from '../../lib/time.ts';
import { texts as all } from '../../texts/runs.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';

const texts = all.steps;

/** The steps of the model: its plan, its calls and the tools that it used, in order. */
export function StepsTab({ id }: { id: string }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(runStepsQuery(id));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const steps = data.pages.flatMap((page) => page.steps);
  if (steps.length === 0) return <EmptyState title={texts.none}>{texts.noneHint}</EmptyState>;
  return (
    <div className="flex max-w-6xl flex-col gap-3 px-4 py-5">
      <ol className="rounded-control border">
        {steps.map((step) => (
          <Step key={`${step.attempt} ${step.n}`} step={step} />
        ))}
      </ol>
      {hasNextPage && (
        <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()} className="self-start">
          {texts.more}
        </Button>
      )}
    </div>
  );
}

function Step({ step }: { step: RunStep }) {
  const { kind, entity, at, ms, tokens, costUsd, tool, text, error, sent, toolCalls } = step;
  return (
    <li className="border-b last:border-b-0">
      <details>
        <summary className="grid grid-cols-[5rem_6rem_1fr_auto] items-center gap-3 px-3 py-1.5 text-12 hover:bg-hover max-md:grid-cols-[4.5rem_1fr_auto]">
          <span className="tabular text-muted">{formatClock(at)}</span>
          <span className={error || tool?.failed ? 'text-bad' : ''}>{tool?.name ?? texts.kind[kind]}</span>
          <span className="truncate font-mono text-muted max-md:hidden">{entity}</span>
          <span className="tabular text-right text-muted">
            {tokens.input + tokens.output > 0 &&
              `${texts.tokens(formatNumber(tokens.input), formatNumber(tokens.output))} · ${formatMoney(costUsd)} · `}
            {formatDuration(ms)}
          </span>
        </summary>
        <div className="flex flex-col gap-3 border-t bg-ground px-3 py-3">
          {error && <p className="break-words text-bad">{error}</p>}
          <Part title={texts.text} content={text} />
          <Part title={texts.toolCalls} content={toolCalls} />
          {tool && (
            <>
              <Part title={texts.input} content={tool.input} />
              <Part title={`${texts.output}${tool.simulated ? ` (${texts.simulated})` : ''}`} content={tool.output} />
            </>
          )}
          <Part title={texts.sent} content={sent} />
        </div>
      </details>
    </li>
  );
}

function Part({ title, content }: { title: string; content: unknown }) {
  if (content === undefined || content === null || content === '') return null;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-12 text-muted">{title}</p>
      <pre
        tabIndex={0}
        className="max-h-80 overflow-auto rounded-control border bg-surface px-3 py-2 font-mono text-12 break-words whitespace-pre-wrap"
      >
        {typeof content === 'string' ? content : JSON.stringify(content, null, 2)}
      </pre>
    </div>
  );
}
