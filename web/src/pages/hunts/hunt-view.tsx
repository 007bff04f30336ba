import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  findingsQuery,
  huntRunsQuery,
  isUnderWay,
  joinFindings,
  type FindingChange,
  type Hunt,
  type HuntFinding,
  type HuntRun,
} from '../../api/hunts.ts';
import { incidentsQuery } from '../../api/incidents.ts';
import { formatLocal } from '../../lib/time.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/hunts.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code/code-block.tsx';
import { Fact } from '../../ui/evidence/fact-list.tsx';
import { SelectField } from '../../ui/forms/field.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { Value } from '../../ui/value.tsx';

/** A hunt, and what its runs found compared with the runs before. */
export function HuntView({ hunt }: { hunt: Hunt }) {
  const { name, kind, question, words, rowMeaning, span, cadence, nextRunAt, lastRun } = hunt;
  const { data: runs } = useQuery(huntRunsQuery(hunt.id, lastRun));
  const [chosen, setChosen] = useState<string>();
  const run = runs?.find(({ id }) => id === chosen) ?? runs?.find((one) => !isUnderWay(one));
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <h2 className="text-15 font-strong break-words">{name}</h2>
      <dl className="grid grid-cols-[8.5rem_1fr] gap-x-3 gap-y-1.5">
        <Fact name={texts.span}>
          {'days' in span ? texts.lastDays(span.days) : `${formatLocal(span.from)} – ${formatLocal(span.to)}`}
        </Fact>
        <Fact name={texts.cadence}>{texts.cadences[cadence ?? 'never']}</Fact>
        <Fact name={texts.lastRun}>{lastRun === null ? texts.never : texts.states[lastRun.state]}</Fact>
        <Fact name={texts.nextRun}>{nextRunAt !== null && <ExactTime time={nextRunAt} />}</Fact>
      </dl>
      {(words ?? rowMeaning) !== null && (
        <dl className="grid grid-cols-[8.5rem_1fr] gap-x-3 gap-y-1.5">
          <Fact name={texts.words.label}>{words}</Fact>
          <Fact name={texts.words.meaning}>{rowMeaning}</Fact>
        </dl>
      )}
      <CodeBlock label={texts.questions[kind].label} text={question} isWrapped />
      {runs && runs.length > 0 && run && (
        <>
          <SelectField
            label={texts.runs}
            options={runs.map(({ id, createdAt, state }) => ({
              value: id,
              label: `${formatLocal(createdAt)}, ${texts.states[state]}`,
            }))}
            value={run.id}
            onChange={({ target }) => setChosen(target.value)}
          />
          <RunResult key={run.id} run={run} />
        </>
      )}
    </article>
  );
}

type Shown = FindingChange | 'all';

/** What a run found. The choice of rows joins an incident. */
function RunResult({ run }: { run: HuntRun }) {
  const [shown, setShown] = useState<Shown>(run.newFindings > 0 && run.previousRunId !== null ? 'new' : 'all');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const query = useInfiniteQuery(findingsQuery(run.id, shown === 'all' ? undefined : shown));
  const findings = query.data?.pages.flatMap((page) => page.findings);
  const toggle = (id: string): void => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const counts = {
    all: run.findings,
    new: run.newFindings,
    same: run.findings - run.newFindings,
    gone: run.goneFindings,
  };
  const options = Object.fromEntries(
    (Object.keys(texts.changes) as Shown[]).map((change) => [change, `${texts.changes[change]} ${counts[change]}`]),
  ) as Record<Shown, string>;
  return (
    <Section title={texts.findings} count={run.findings}>
      {run.failure !== null && (
        <Notice kind="error" title={texts.failed}>
          {run.failure}
        </Notice>
      )}
      {run.warnings.length > 0 && (
        <Notice kind="warning" title={run.isComplete ? texts.notes : texts.incomplete}>
          {run.warnings.join(' ')}
        </Notice>
      )}
      <p className="text-12 text-muted">{texts.cost(run)}</p>
      {run.previousRunId === null ? (
        run.findings > 0 && <p className="text-12 text-muted">{texts.first}</p>
      ) : (
        <SegmentedControl<Shown> label={texts.compared} options={options} value={shown} onChange={setShown} />
      )}
      {chosen.size > 0 && <JoinIncident runId={run.id} ids={[...chosen]} onJoined={() => setChosen(new Set())} />}
      {!findings ? (
        <Skeleton className="h-20" />
      ) : findings.length === 0 ? (
        <p className="text-muted">{texts.none}</p>
      ) : (
        <ul aria-label={texts.findings} className="flex flex-col">
          {findings.map((finding) => (
            <Finding
              key={finding.id}
              finding={finding}
              isChosen={chosen.has(finding.id)}
              // Gone rows belong to the run before.
              onToggle={finding.change === 'gone' ? undefined : () => toggle(finding.id)}
            />
          ))}
        </ul>
      )}
      <LoadMore query={query} />
    </Section>
  );
}

type FindingProps = { finding: HuntFinding; isChosen: boolean; onToggle: (() => void) | undefined };

function Finding({ finding, isChosen, onToggle }: FindingProps) {
  const { at, change, dataset, entity, detail, rowId, fields, query, incidentIds } = finding;
  const label = entity ?? rowId;
  return (
    <li className="flex items-start gap-2.5 border-b py-1.5">
      {onToggle && (
        <input
          type="checkbox"
          aria-label={common.select(label)}
          checked={isChosen}
          onChange={onToggle}
          className="mt-1 size-3.5 shrink-0 accent-(--color-accent)"
        />
      )}
      <div className="flex min-w-0 grow flex-col gap-0.5">
        <span className="flex flex-wrap gap-x-3">
          <span className="font-mono wrap-anywhere">{entity === null ? rowId : <Value value={entity} at={at} />}</span>
          {detail !== null && <span className="wrap-anywhere text-muted">{detail}</span>}
        </span>
        <span className="flex flex-wrap gap-x-3 text-12 text-muted">
          <span>{texts.changes[change]}</span>
          {at !== null && <ExactTime time={at} />}
          {dataset !== null && <span className="font-mono wrap-anywhere">{dataset}</span>}
          {incidentIds.map((id) => (
            <Link key={id} to="/incidents/$id" params={{ id }} className="text-accent hover:underline">
              {texts.inIncident}
            </Link>
          ))}
        </span>
        <details>
          <summary className="cursor-pointer text-12 text-muted">{texts.shown}</summary>
          <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-3 py-1 text-12">
            {Object.entries(fields).map(([name, value]) => (
              <Fact key={name} name={name}>
                <span className="font-mono wrap-anywhere">
                  <Value value={value} at={at} />
                </span>
              </Fact>
            ))}
          </dl>
          <CodeBlock label={texts.query} text={query} isWrapped />
        </details>
      </div>
    </li>
  );
}

type JoinProps = { runId: string; ids: string[]; onJoined: () => void };

const foundMax = 10;

/** Opens an incident from rows, or adds them to one that is searched. */
function JoinIncident({ runId, ids, onJoined }: JoinProps) {
  const [q, setQ] = useState<string>();
  const { data } = useInfiniteQuery({
    ...incidentsQuery({ state: 'active', ...(q && { q }) }),
    enabled: q !== undefined,
  });
  const { mutate, isPending } = useChange({
    change: (incidentId: string | undefined) => joinFindings(runId, ids, incidentId),
    refresh: [['hunts', 'findings'], ['incidents']],
    done: () => texts.joined,
    failed: texts.notJoined,
  });
  const join = (incidentId: string | undefined): void => mutate(incidentId, { onSuccess: onJoined });
  const found = data?.pages.flatMap(({ incidents }) => incidents).slice(0, foundMax) ?? [];
  return (
    <div className="flex flex-col gap-2 rounded-control border p-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-12 text-muted">{texts.selected(ids.length)}</span>
        <Button disabled={isPending} onClick={() => join(undefined)}>
          {texts.openIncident}
        </Button>
        <SearchField label={texts.search} value={q} onChange={setQ} />
      </div>
      {found.length > 0 && (
        <ul aria-label={texts.search} className="flex flex-col gap-1">
          {found.map(({ id, title }) => (
            <li key={id} className="flex flex-wrap items-center gap-x-3">
              <span className="min-w-0 grow wrap-anywhere">{title}</span>
              <Button kind="quiet" disabled={isPending} onClick={() => join(id)}>
                {texts.addTo}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
