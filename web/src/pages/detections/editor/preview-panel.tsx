import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { previewDetection, type Preview } from '../../../api/detection-parts.ts';
import { formatNumber } from '../../../lib/text.ts';
import { useStoppableRequest } from '../../../lib/use-request-signal.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { texts as runTexts } from '../../../texts/runs.ts';
import { Button } from '../../../ui/button.tsx';
import { BaselineChart, readBaseline } from '../../../ui/charts/baseline-chart.tsx';
import { EvidenceTable } from '../../../ui/evidence/evidence-table.tsx';
import { FactList } from '../../../ui/evidence/fact-list.tsx';
import { VerdictView } from '../../../ui/evidence/verdict-view.tsx';
import { SelectInput } from '../../../ui/forms/form.tsx';
import { SeverityMark } from '../../../ui/labels/severity.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { definitionOf, type Draft } from './draft.ts';
import { LastHours } from '../../../ui/time.tsx';

const texts = editor.preview;
const windows = Object.entries(texts.windows);
const dayMs = 86_400_000;

type Props = {
  /** The detection to preview, and how often a preview was requested. */
  previewed: { draft: Draft; n: number } | null;
  onPreview: () => void;
};

/** Runs the definition over past events: rows, candidates, and what would fire. */
export function PreviewPanel({ previewed, onPreview }: Props) {
  const [days, setDays] = useState('1');
  const request = useStoppableRequest();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: (draft: Draft) => {
      const to = Date.now();
      const definition = definitionOf({ ...draft, name: draft.name.trim() || editor.newTitle });
      const input = {
        ...definition,
        systemPrompt: definition.systemPrompt || texts.title,
        from: new Date(to - Number(days) * dayMs).toISOString(),
        to: new Date(to).toISOString(),
      };
      return previewDetection(input, request.begin());
    },
  });
  useEffect(() => {
    if (previewed) mutate(previewed.draft);
  }, [previewed, mutate]);
  return (
    <Section
      level={2}
      title={texts.title}
      actions={
        <>
          <LastHours hours={Number(days) * 24} />
          <SelectInput
            aria-label={texts.window}
            value={days}
            onChange={(event) => setDays(event.target.value)}
            className="h-7"
          >
            {windows.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </SelectInput>
          <Button disabled={isPending} onClick={onPreview}>
            {isPending ? texts.running : texts.run}
          </Button>
        </>
      }
    >
      <div aria-live="polite" className="flex flex-col gap-4">
        {isPending ? (
          <>
            <Skeleton className="h-10" />
            <Skeleton className="h-32" />
          </>
        ) : error ? (
          <Notice kind="error" title={texts.failed}>
            {error.message}
          </Notice>
        ) : data ? (
          <Findings preview={data} />
        ) : (
          <p className="text-muted">{texts.hint}</p>
        )}
      </div>
    </Section>
  );
}

function Findings({ preview }: { preview: Preview }) {
  const { rowsTotal, candidatesTotal, candidates, hits, noData, complete, warnings } = preview;
  const notJudged = runTexts.suppressed(preview.suppressed);
  const funnel = [
    [rowsTotal, texts.funnel.rows(rowsTotal)],
    [candidatesTotal, texts.funnel.candidates(candidatesTotal)],
    [hits, texts.funnel.hits()],
  ] as const;
  return (
    <>
      <dl className="flex flex-wrap items-baseline gap-x-6 gap-y-1">
        {funnel.map(([count, label]) => (
          <div key={label} className="flex flex-row-reverse items-baseline gap-1.5">
            <dt className="text-muted">{label}</dt>
            <dd className="tabular text-20">{formatNumber(count)}</dd>
          </div>
        ))}
      </dl>
      {notJudged !== '' && (
        <p className="text-12 text-muted">
          {runTexts.notJudged}: {notJudged}.
        </p>
      )}
      {noData && warnings.length === 0 && <Notice kind="warning" title={texts.noData} />}
      {!complete && <Notice kind="warning" title={texts.incomplete} />}
      {warnings.map(({ code, detail }) => (
        <Notice key={`${code} ${detail}`} kind="warning" title={detail} />
      ))}
      <p className="text-12 text-muted">
        {preview.continuous.possible
          ? texts.continuous.possible
          : `${texts.continuous.impossible} ${preview.continuous.reason}`}
      </p>
      {candidates.length === 0 && <p className="text-muted">{texts.none}</p>}
      {candidates.map((candidate, index) => (
        <PreviewCandidate key={`${index} ${candidate.entity}`} candidate={candidate} />
      ))}
      {candidatesTotal > candidates.length && (
        <p className="text-12 text-muted">{texts.cut(candidates.length, candidatesTotal)}</p>
      )}
    </>
  );
}

const rowsShown = 5;

/** One entity of a preview: its rows with the cited cells marked, its facts and its verdict. */
function PreviewCandidate({ candidate }: { candidate: Preview['candidates'][number] }) {
  const { entity, severity, facts, rows, outcome, verdict } = candidate;
  const baseline = readBaseline(facts);
  return (
    <details open className="group rounded-control border bg-surface">
      <summary className="flex items-center gap-2.5 px-3 py-2 select-none">
        <SeverityMark severity={severity} />
        <span className="min-w-0 truncate font-mono text-12">{entity}</span>
        <span className="ml-auto shrink-0 text-12 text-muted">{texts.outcome[outcome]}</span>
      </summary>
      <div className="flex flex-col gap-4 border-t p-3">
        {verdict && <VerdictView verdict={verdict} />}
        <div className="flex flex-col gap-1">
          <EvidenceTable
            rows={rows.slice(0, rowsShown)}
            evidence={verdict?.evidence.filter(({ observation }) => observation === 'rows') ?? []}
          />
          {rows.length > rowsShown && <p className="text-12 text-muted">{texts.moreRows(rows.length - rowsShown)}</p>}
        </div>
        {baseline && <BaselineChart baseline={baseline} />}
        <FactList facts={facts} />
      </div>
    </details>
  );
}
