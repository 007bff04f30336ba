import { Link } from '@tanstack/react-router';
import { isResponse, type Run } from '../../api/runs.ts';
import { formatMoney, formatNumber, toWords, classes } from '../../lib/text.ts';
import { formatDuration } from '../../lib/time.ts';
import { texts as common } from '../../texts/common.ts';
import { texts, texts as runs } from '../../texts/runs.ts';
import { Figures } from '../../ui/charts/figures.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { Table, type TableColumn } from '../../ui/lists/table.tsx';
import { ExactTime, RelativeTime } from '../../ui/time.tsx';
import { texts as all } from '../../texts/agents.ts';

const windowsShown = 24;

/** When a run ran, how long each phase took, what it examined and what it cost. */
export function RunSummary({ run }: { run: Run }) {
  const { failure, warnings, phases } = run;
  return (
    <div className="flex max-w-6xl flex-col gap-6 px-4 py-5">
      {failure && (
        <Notice kind="error" title={toWords(failure.kind)}>
          <p>{failure.message}</p>
          <p>
            {texts.blame[failure.blame]} {failure.retryable && texts.retry}
          </p>
        </Notice>
      )}
      {warnings.map(({ code, detail }) => (
        <Notice key={`${code} ${detail}`} kind="warning" title={toWords(code)}>
          {detail}
        </Notice>
      ))}
      <Figures
        figures={[
          { label: texts.columns.started, value: run.startedAt ? <RelativeTime time={run.startedAt} /> : '–' },
          { label: texts.columns.lag, value: run.lagMs === null ? '–' : formatDuration(run.lagMs) },
          ...(isResponse(run)
            ? []
            : [
                { label: texts.columns.rows, value: formatNumber(run.rowsTotal) },
                { label: texts.columns.hits, value: formatNumber(run.hitCount) },
              ]),
          {
            label: texts.columns.score,
            value: run.score ?? '–',
            hint: run.unscored
              ? texts.unscored[run.unscored]
              : run.scoreCriteria.map(({ name, points, max }) => `${toWords(name)}: ${points} of ${max}`).join('\n'),
          },
          { label: texts.columns.calls, value: formatNumber(run.calls) },
          { label: texts.columns.tokens, value: formatNumber(run.tokens) },
          { label: texts.columns.cost, value: formatMoney(run.costUsd) },
        ]}
      />
      {isResponse(run) && <ResponseEvent run={run} />}
      {run.acceptance.length > 0 && (
        <Section level={2} title={texts.acceptance.title}>
          <Acceptance acceptance={run.acceptance} />
        </Section>
      )}
      {!isResponse(run) && (
        <Section level={2} title={texts.phases}>
          {phases.length === 0 ? <p className="text-muted">{texts.noPhases}</p> : <Phases phases={phases} />}
        </Section>
      )}
      <div className="grid gap-6 lg:grid-cols-2">
        {!isResponse(run) && <Windows run={run} />}
        <Section level={2} title={texts.details}>
          <Details run={run} />
        </Section>
      </div>
    </div>
  );
}

/** What the run examined of the logs. */
function Windows({ run }: { run: Run }) {
  const muted = texts.suppressed(run.suppressed);
  return (
    <Section level={2} title={texts.windows}>
      <Table
        label={texts.windows}
        columns={windowColumns}
        rows={run.windows.slice(0, windowsShown)}
        rowKey={({ from }) => from}
      />
      {run.truncated && <p className="text-12 text-medium">{texts.truncated}</p>}
      {muted !== '' && (
        <p className="text-12 text-muted">
          {texts.notJudged}: {muted}.
        </p>
      )}
    </Section>
  );
}

/** Each acceptance criterion with its grade, and the reason for it. */
function Acceptance({ acceptance }: Pick<Run, 'acceptance'>) {
  return (
    <ul className="flex flex-col gap-2">
      {acceptance.map(({ criterion, isMet, reason, gradedBy }) => (
        <li key={criterion} className="grid max-w-[84ch] grid-cols-[5rem_minmax(0,1fr)] gap-x-3 wrap-anywhere">
          <span className={isMet ? 'text-good' : 'text-bad'}>
            {isMet ? texts.acceptance.met : texts.acceptance.notMet}
          </span>
          <span>
            {criterion}
            <span className="block text-12 text-muted">
              {reason} · {texts.acceptance.by[gradedBy]}
            </span>
          </span>
        </li>
      ))}
    </ul>
  );
}

type Window = Run['windows'][number];

const windowColumns: TableColumn<Window>[] = [
  { header: texts.windowColumns.from, cell: ({ from }) => <ExactTime time={from} /> },
  { header: texts.windowColumns.to, cell: ({ to }) => <ExactTime time={to} /> },
  { header: texts.windowColumns.rows, isFigure: true, cell: ({ rowsTotal }) => formatNumber(rowsTotal) },
  { header: texts.windowColumns.candidates, isFigure: true, cell: ({ candidates }) => formatNumber(candidates) },
];

function Details({ run }: { run: Run }) {
  const { fields } = texts;
  const pairs: [string, React.ReactNode][] = [
    [
      texts.columns.trigger,
      isResponse(run) ? null : texts.trigger[run.trigger] + (run.actor === null ? '' : ` ${common.by(run.actor)}`),
    ],
    [fields.slot, run.slotAt && <ExactTime time={run.slotAt} />],
    [fields.model, run.model ?? run.modelAlias],
    [fields.prompt, run.promptVersion],
    [fields.revision, run.revision],
    [fields.attempt, run.attempt],
  ];
  return (
    <>
      <dl className="grid grid-cols-[8rem_1fr] gap-x-3 gap-y-1.5">
        {pairs
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="tabular min-w-0 break-words">{value}</dd>
            </div>
          ))}
      </dl>
      {run.query && (
        <details>
          <summary className="text-12 text-muted hover:text-ink">{texts.query}</summary>
          <pre
            tabIndex={0}
            className="mt-2 max-h-60 overflow-auto rounded-control border bg-ground px-3 py-2 font-mono text-12 whitespace-pre-wrap"
          >
            {run.query}
          </pre>
        </details>
      )}
    </>
  );
}

/** Shades of one color in turn: phases differ by place and name, not by meaning. */
const shades = ['bg-accent', 'bg-accent/70', 'bg-accent/45', 'bg-accent/25'];

/** How long each phase of a run took, as parts of one bar. */
function Phases({ phases }: { phases: Run['phases'] }) {
  const total = Math.max(
    1,
    phases.reduce((sum, { ms }) => sum + ms, 0),
  );
  return (
    <div className="flex flex-col gap-2">
      <div className="flex h-3 gap-px overflow-hidden rounded-small" aria-hidden>
        {phases.map(({ name, ms }, index) => (
          <span
            key={name}
            title={`${toWords(name)}: ${formatDuration(ms)}`}
            className={classes('min-w-0.5', shades[index % shades.length])}
            style={{ flexGrow: ms / total }}
          />
        ))}
      </div>
      <ul className="flex flex-wrap gap-x-5 gap-y-1 text-12">
        {phases.map(({ name, ms }, index) => (
          <li key={name} className="flex items-center gap-1.5">
            <span className={classes('size-2 rounded-small', shades[index % shades.length])} aria-hidden />
            <span className="text-muted">{toWords(name)}</span>
            <span className="tabular">{formatDuration(ms)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const response = all.response;

/** What a response agent was started with, and where its proposals are. */
function ResponseEvent({ run }: { run: Run }) {
  const { event, customInstructions: question } = run;
  const inputs = Object.entries(event?.inputs ?? {});
  const pairs: [string, React.ReactNode][] = [
    [
      response.startedBy,
      all.sources[event?.source ?? 'manual'] + (run.actor === null ? '' : ` ${common.by(run.actor)}`),
    ],
    [
      response.about,
      event?.hitId && (
        <Link to="/hits/$id" params={{ id: event.hitId }} className="underline underline-offset-2">
          {response.theHit}
        </Link>
      ),
    ],
    [
      response.of,
      event?.incidentId && (
        <Link to="/incidents/$id" params={{ id: event.incidentId }} className="underline underline-offset-2">
          {response.theIncident}
        </Link>
      ),
    ],
    [response.question, question],
    ...inputs.map(([name, value]): [string, React.ReactNode] => [name, String(value)]),
  ];
  return (
    <Section
      level={2}
      title={response.title}
      actions={
        <Link to="/approvals" search={{ agent: run.detectionId }} className="text-12 text-muted hover:text-ink">
          {response.proposals}
        </Link>
      }
    >
      <dl aria-label={runs.columns.trigger} className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-3 gap-y-1.5">
        {pairs
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="wrap-anywhere text-muted">{name}</dt>
              <dd className="min-w-0 max-w-[72ch] wrap-anywhere whitespace-pre-wrap">{value}</dd>
            </div>
          ))}
      </dl>
    </Section>
  );
}
