import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { backtest, type Backtest, type BacktestProgress } from '../../../api/backtest.ts';
import { changeDetection, type Detection } from '../../../api/detections.ts';
import { formatNumber } from '../../../lib/text.ts';
import { useStoppableRequest } from '../../../lib/use-request-signal.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { Button } from '../../../ui/button.tsx';
import { ProgressBar } from '../../../ui/charts/progress-bar.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { longestHours } from './backtest-range.ts';

const texts = proof.backtest;
const hoursMax = 720;

/** Looks for thresholds with which the detection would have been quiet over the last 30 days, or as many as a backtest examines. */
export function ThresholdTuning({ detection }: { detection: Detection }) {
  const request = useStoppableRequest();
  const [progress, setProgress] = useState<BacktestProgress>();
  const { mutate, reset, data, error, isPending } = useMutation({
    mutationFn: () => {
      const to = new Date();
      const hours = Math.min(hoursMax, longestHours(detection.cronSchedule, to));
      const range = { from: new Date(to.getTime() - hours * 3_600_000).toISOString(), to: to.toISOString() };
      setProgress(undefined);
      return backtest(detection.id, range, { signal: request.begin(), onProgress: setProgress });
    },
  });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="max-w-[72ch] grow text-muted">{proof.tuning.thresholds}</p>
        {isPending ? (
          <Button
            onClick={() => {
              request.stop();
              reset();
            }}
          >
            {common.cancel}
          </Button>
        ) : (
          <Button className="md:ml-auto" onClick={() => mutate()}>
            {proof.tuning.findThresholds}
          </Button>
        )}
      </div>
      {isPending && <BacktestBar progress={progress} />}
      {error && (
        <Notice kind="error" title={texts.failed}>
          {error.message}
        </Notice>
      )}
      {data && !isPending && (
        <>
          {data.proposal ? (
            <ThresholdProposal detection={detection} proposal={data.proposal} />
          ) : (
            <p>{proof.tuning.noThresholds}</p>
          )}
          {!data.complete && <p className="text-muted">{texts.incomplete}</p>}
        </>
      )}
    </div>
  );
}

/** How far a backtest is. */
export function BacktestBar({ progress }: { progress: BacktestProgress | undefined }) {
  const { phase, windowsDone, windowsTotal } = progress ?? { windowsDone: 0, windowsTotal: 0 };
  const counted = texts.progress(formatNumber(windowsDone), formatNumber(windowsTotal));
  const label = phase === undefined ? texts.begun : phase === 'tuning' ? texts.tuning : counted;
  return <ProgressBar label={label} done={windowsDone} total={windowsTotal} />;
}

type ProposalProps = { detection: Detection; proposal: NonNullable<Backtest['proposal']> };

/** A quieter tuning that a backtest found, to apply. */
export function ThresholdProposal({ detection, proposal }: ProposalProps) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => changeDetection(detection, { tuning: proposal.tuning }),
    onSuccess: () => {
      toasts.add({ title: texts.applied });
      return client.invalidateQueries({ queryKey: ['detections'] });
    },
    onError: ({ message }) => toasts.add({ title: texts.failed, description: message, isError: true }),
  });
  const { candidatesPerWeekBefore: before, candidatesPerWeekAfter: after, truePositivesKept: kept } = proposal;
  return (
    <Section
      level={2}
      title={texts.proposal}
      actions={
        <Button disabled={isPending} onClick={() => mutate()}>
          {texts.apply}
        </Button>
      }
    >
      <p>{texts.proposalText(before, after, kept)}</p>
      <pre className="overflow-x-auto rounded-control border bg-ground px-3 py-2 font-mono text-12">
        {JSON.stringify(proposal.tuning, null, 2)}
      </pre>
    </Section>
  );
}
