import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { previewDetection, type Preview } from '../../../api/detection-parts.ts';
import { formatNumber } from '../../../lib/text.ts';
import { useStoppableRequest } from '../../../lib/use-request-signal.ts';
import { texts as editor } from '../../../texts/editor.ts';
import { texts as runTexts } from '../../../texts/runs.ts';
import { Button } from '../../../ui/button.tsx';
import { SelectInput } from '../../../ui/forms/form.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { definitionOf, type Draft } from './draft.ts';
import { PreviewCandidate } from './preview-candidate.tsx';

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
