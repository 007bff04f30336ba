import { useState } from 'react';
import type { RunStep } from '../../api/runs.ts';
import { classes, formatMoney, formatNumber } from '../../lib/text.ts';
import { formatClock, formatDuration } from '../../lib/time.ts';
import { texts as all } from '../../texts/runs.ts';
import { ObservationView } from '../../ui/evidence/observation-view.tsx';
import type { Part } from './transcript.ts';

const texts = all.steps;

const idOf = (scope: string, observation: string): string => `${scope} ${observation}`;

/** Scrolls to an observation of an investigation and focuses it. */
export function goToObservation(scope: string, observation: string): void {
  const found = document.getElementById(idOf(scope, observation));
  found?.scrollIntoView({ block: 'start' });
  found?.focus({ preventScroll: true });
}

type Props = {
  part: Part;
  /** The key of the investigation. */
  scope: string;
  /** The submission did not end the investigation. */
  isSentBack: boolean;
};

/** One step: what was asked, what came back, and the raw messages behind it. */
export function PartView({ part, scope, isSentBack }: Props) {
  const { step } = part;
  const { tool, error } = step;
  const observation = part.kind === 'tool' ? part.observation : undefined;
  return (
    <li
      {...(observation && { id: idOf(scope, observation.id), tabIndex: -1 })}
      className="grid gap-x-3 gap-y-1 border-t py-3 first:border-t-0 first:pt-1 md:grid-cols-[5rem_minmax(0,1fr)]"
    >
      <span className={classes('text-12 leading-5', error || tool?.failed ? 'text-bad' : 'text-muted')}>
        {texts.kind[part.kind]}
      </span>
      <div className="flex min-w-0 flex-col gap-2">
        {part.said !== '' && <p className="max-w-[72ch] wrap-anywhere whitespace-pre-wrap">{part.said}</p>}
        <Content part={part} isSentBack={isSentBack} />
        {error && <p className="wrap-anywhere text-bad">{error}</p>}
        <RawMessages step={step} />
      </div>
    </li>
  );
}

function Content({ part, isSentBack }: Omit<Props, 'scope'>) {
  switch (part.kind) {
    case 'plan':
      return <p>{texts.planned(part.questions.length)}</p>;
    case 'tool':
      return part.observation ? (
        <ObservationView observation={part.observation} />
      ) : (
        <ToolFailure tool={part.step.tool} />
      );
    case 'submission':
      return (
        <p>
          {texts.submitted(part.verdict, part.confidence)} {isSentBack && texts.sentBack}
        </p>
      );
    case 'grades':
      return <p>{texts.graded(part.count)}</p>;
    case 'check':
      return (
        <div className="max-w-[72ch] wrap-anywhere">
          <p className="text-muted">{texts.checks[part.subject]}</p>
          {part.claim !== undefined && <p>{part.claim}</p>}
          <p>
            <span className="font-strong">{resultOf(part.result)}</span>
            {part.reason !== '' && `: ${part.reason}`}
          </p>
        </div>
      );
    case 'call':
      return <AskedTools step={part.step} />;
  }
}

const resultOf = (result: string): string =>
  Object.hasOwn(texts.results, result) ? texts.results[result as keyof typeof texts.results] : result;

/** The tools that a model asked for. Their results are the next steps. */
function AskedTools({ step: { toolCalls } }: { step: RunStep }) {
  const calls = Array.isArray(toolCalls) ? (toolCalls as { name?: unknown }[]) : [];
  if (calls.length === 0) return null;
  return <p className="wrap-anywhere text-muted">{texts.asked(calls.map(({ name }) => String(name)).join(', '))}</p>;
}

/** A call that found nothing to cite: it was refused, failed or simulated. */
function ToolFailure({ tool }: Pick<RunStep, 'tool'>) {
  if (!tool) return null;
  const message = /^<([\w-]+)>\n([^]*)\n<\/\1>$/.exec(tool.output)?.[2] ?? tool.output;
  return (
    <div className="max-w-[72ch] wrap-anywhere">
      <p className="text-12 font-strong">
        {tool.name}
        {tool.simulated && ` (${texts.simulated})`}
      </p>
      <p className={tool.failed ? 'text-bad' : 'text-muted'}>{message}</p>
    </div>
  );
}

/** The messages of a step, which can be long, so that they are rendered only when they are opened. */
function RawMessages({ step }: { step: RunStep }) {
  const [isOpen, setIsOpen] = useState(false);
  const { at, ms, tokens, costUsd, tool, text, sent, toolCalls } = step;
  const figures = [
    formatClock(at),
    ...(tokens.input + tokens.output > 0
      ? [texts.tokens(formatNumber(tokens.input), formatNumber(tokens.output)), formatMoney(costUsd)]
      : []),
    formatDuration(ms),
  ];
  return (
    <details className="text-12" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className="tabular w-fit max-w-full cursor-pointer text-muted hover:text-ink">
        {texts.raw} · {figures.join(' · ')}
      </summary>
      {isOpen && (
        <div className="flex flex-col gap-3 pt-2">
          <Message title={texts.text} content={text} />
          <Message title={texts.toolCalls} content={toolCalls} />
          {tool && (
            <>
              <Message title={texts.input} content={tool.input} />
              <Message
                title={`${texts.output}${tool.simulated ? ` (${texts.simulated})` : ''}`}
                content={tool.output}
              />
            </>
          )}
          <Message title={texts.sent} content={sent} />
        </div>
      )}
    </details>
  );
}

function Message({ title, content }: { title: string; content: unknown }) {
  if (content === undefined || content === null || content === '') return null;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <p className="text-muted">{title}</p>
      <pre
        tabIndex={0}
        role="group"
        aria-label={title}
        className="max-h-80 overflow-auto rounded-control border bg-ground px-3 py-2 font-mono wrap-anywhere whitespace-pre-wrap"
      >
        {typeof content === 'string' ? content : JSON.stringify(content, null, 2)}
      </pre>
    </div>
  );
}
