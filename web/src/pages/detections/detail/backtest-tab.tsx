import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { backtest, type Backtest, type BacktestProgress } from '../../../api/backtest.ts';
import { modelsQuery, promptsQuery } from '../../../api/detection-parts.ts';
import type { Detection } from '../../../api/detections.ts';
import { formatMoney, formatNumber } from '../../../lib/text.ts';
import { longestHours } from './backtest-range.ts';
import { BacktestBar, ThresholdProposal } from './threshold-tuning.tsx';
import { useStoppableRequest } from '../../../lib/use-request-signal.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { BarChart } from '../../../ui/charts/bar-chart.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field, SelectInput } from '../../../ui/forms/form.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { countHits } from '../../../texts/counts.ts';
import { LastHours } from '../../../ui/time.tsx';

const texts = proof.backtest;
const ranges = Object.entries(texts.ranges);

/** The hits that the detection would have raised, alone or beside another prompt or model. */
export default function BacktestTab({ detection }: { detection: Detection }) {
  const { id, activeSystemPrompt, modelAlias, cronSchedule } = detection;
  const { data: prompts } = useQuery(promptsQuery(id));
  const { data: models } = useQuery(modelsQuery);
  const [longest] = useState(() => longestHours(cronSchedule, new Date()));
  const [hours, setHours] = useState(String(Math.min(168, longest)));
  const [version, setVersion] = useState('');
  const [model, setModel] = useState('');
  const request = useStoppableRequest();
  const [progress, setProgress] = useState<BacktestProgress>();
  const { mutate, reset, data, error, isPending } = useMutation({
    mutationFn: () => {
      const to = new Date();
      const input = {
        from: new Date(to.getTime() - Number(hours) * 3_600_000).toISOString(),
        to: to.toISOString(),
        ...(version !== '' && { promptVersion: Number(version) }),
        ...(model !== '' && { modelAlias: model }),
      };
      setProgress(undefined);
      return backtest(id, input, { signal: request.begin(), onProgress: setProgress });
    },
  });
  return (
    <div className="flex max-w-5xl flex-col gap-6 px-4 py-5">
      <p className="max-w-[72ch] text-muted">{texts.intro}</p>
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Field label={texts.range} hint={<LastHours hours={Number(hours)} />}>
          {(control) => (
            <SelectInput {...control} value={hours} onChange={(event) => setHours(event.target.value)}>
              {ranges
                .filter(([value]) => Number(value) <= longest)
                .map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
            </SelectInput>
          )}
        </Field>
        <Field label={texts.compare}>
          {(control) => (
            <SelectInput {...control} value={version} onChange={(event) => setVersion(event.target.value)}>
              <option value="">{texts.nothing}</option>
              {prompts?.prompts
                .filter((prompt) => prompt.version !== activeSystemPrompt.version)
                .map((prompt) => (
                  <option key={prompt.version} value={prompt.version}>
                    {texts.version(prompt.version)}
                  </option>
                ))}
            </SelectInput>
          )}
        </Field>
        <Field label={texts.model}>
          {(control) => (
            <SelectInput {...control} value={model} onChange={(event) => setModel(event.target.value)}>
              <option value="">{texts.nothing}</option>
              {models
                ?.filter(({ alias }) => alias !== modelAlias)
                .map(({ alias }) => (
                  <option key={alias}>{alias}</option>
                ))}
            </SelectInput>
          )}
        </Field>
        <Button kind="primary" type="submit" disabled={isPending} className="h-8">
          {isPending ? texts.running : texts.start}
        </Button>
        {isPending && (
          <Button
            className="h-8"
            onClick={() => {
              request.stop();
              reset();
            }}
          >
            {common.cancel}
          </Button>
        )}
      </form>
      {isPending && <BacktestBar progress={progress} />}
      {error && (
        <Notice kind="error" title={texts.failed}>
          {error.message}
        </Notice>
      )}
      {data && !isPending && <Outcome result={data} detection={detection} />}
    </div>
  );
}

function Outcome({ result, detection }: { result: Backtest; detection: Detection }) {
  const [first, second] = result.versions;
  const percent = (share: number | null): string => (share === null ? '–' : `${Math.round(share * 100)} %`);
  if (!first) return null;
  const { columns } = texts;
  return (
    <>
      <Section
        level={2}
        title={texts.hitsPerDay}
        actions={
          <span className="tabular text-12 text-muted">
            {texts.summary(formatNumber(result.windows), formatNumber(result.rowsTotal))}
          </span>
        }
      >
        <BarChart
          label={texts.version(first.promptVersion)}
          say={countHits}
          bars={first.hitsPerDay.map(({ day, hits }) => ({ at: day, label: day, value: hits }))}
          {...(second && {
            second: { label: texts.version(second.promptVersion), values: second.hitsPerDay.map(({ hits }) => hits) },
          })}
        />
        {!result.complete && <p className="text-muted">{texts.incomplete}</p>}
      </Section>
      <div className="overflow-x-auto rounded-control border">
        <table className="tabular w-full text-12">
          <thead>
            <tr className="border-b text-right text-faint [&>th]:h-8 [&>th]:px-3 [&>th]:font-normal">
              <th className="text-left">{columns.version}</th>
              <th className="text-left">{columns.model}</th>
              <th>{columns.hits}</th>
              <th>{columns.candidates}</th>
              <th>{columns.belowMinimum}</th>
              <th>{columns.workingHours}</th>
              <th>{columns.precision}</th>
              <th>{columns.recall}</th>
              <th>{columns.cost}</th>
            </tr>
          </thead>
          <tbody>
            {result.versions.map((version, index) => (
              <tr
                key={`${version.promptVersion} ${version.modelAlias}`}
                className="border-b text-right last:border-b-0 [&>td]:h-8 [&>td]:px-3"
              >
                <td className="text-left">
                  <span
                    className={`mr-2 inline-block size-2 rounded-small ${index === 0 ? 'bg-accent' : 'bg-high'}`}
                    aria-hidden
                  />
                  {texts.version(version.promptVersion)}
                </td>
                <td className="text-left">{version.model}</td>
                <td>{formatNumber(version.hits)}</td>
                <td>{formatNumber(version.candidates)}</td>
                <td>{formatNumber(version.suppressed.belowMinimum)}</td>
                <td>{formatNumber(version.suppressed.workingHours)}</td>
                <td>{percent(version.precision)}</td>
                <td>{percent(version.recall)}</td>
                <td>{formatMoney(version.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {result.proposal && <ThresholdProposal detection={detection} proposal={result.proposal} />}
    </>
  );
}
