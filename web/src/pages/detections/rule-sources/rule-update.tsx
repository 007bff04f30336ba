import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import {
  applyRuleUpdate,
  ruleUpdateQuery,
  type AppliedUpdate,
  type ImportProgress,
  type RuleSource,
  type RuleUpdate,
} from '../../../api/rule-sources.ts';
import { formatNumber } from '../../../lib/text.ts';
import { texts } from '../../../texts/rule-sources.ts';
import { Button } from '../../../ui/button.tsx';
import { ProgressBar } from '../../../ui/charts/progress-bar.tsx';
import { CheckField } from '../../../ui/forms/field.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { ChangedRules, LeftOut, RemovedRules } from './changed-rules.tsx';

/** What the newest version would change, and the button that imports it. `isChanging`: the settings of the source are being stored. */
export function RuleUpdateSection({ source, isChanging }: { source: RuleSource; isChanging: boolean }) {
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...ruleUpdateQuery(source),
    placeholderData: keepPreviousData,
  });
  return (
    <Section title={texts.proposal}>
      {source.available === null ? (
        <p className="text-muted">{texts.waiting}</p>
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Proposal source={source} update={data} isOutdated={isPlaceholderData || isChanging} />
      ) : (
        <>
          <p className="text-muted">{texts.comparing}</p>
          <Skeleton className="h-32" />
        </>
      )}
    </Section>
  );
}

type Props = {
  source: RuleSource;
  update: RuleUpdate;
  /** The proposal for the present settings is still to come. */
  isOutdated: boolean;
};

function Proposal({ source, update, isOutdated }: Props) {
  const client = useQueryClient();
  const [removes, setRemoves] = useState(false);
  const [progress, setProgress] = useState<ImportProgress>();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => applyRuleUpdate(source.id, { version: update.version, removeMissing: removes }, setProgress),
    onSettled: () =>
      Promise.all(
        [['rule-sources'], ['detections'], ['overview']].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
  const { created, updated, removed, leftOut } = update;
  const changes = [...created, ...updated];
  const noisy = changes.filter(({ matches24h }) => matches24h !== null && matches24h > 0);
  const matches = noisy.reduce((sum, rule) => sum + (rule.matches24h ?? 0), 0);
  const isEmpty = changes.length === 0 && removed.length === 0 && update.unchanged === 0;
  const isCurrent = changes.length === 0 && removed.length === 0 && source.version === update.version;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-col gap-1">
        <p className="tabular">
          {isOutdated
            ? texts.comparing
            : isEmpty
              ? texts.nothingFits
              : isCurrent
                ? texts.nothing
                : texts.summary(update)}
        </p>
        {!isOutdated && changes.length > 0 && (
          <p className="tabular text-muted">{texts.noise(matches, noisy.length)}</p>
        )}
      </div>
      {removed.length > 0 && (
        <CheckField
          label={texts.removeMissing(removed.length)}
          hint={texts.removeMissingHint}
          checked={removes}
          disabled={isPending}
          onChange={() => setRemoves(!removes)}
        />
      )}
      {isPending ? (
        <ProgressBar
          label={progress ? texts.applying(progress) : texts.begun}
          done={progress?.rulesDone ?? 0}
          total={progress?.rulesTotal ?? 0}
        />
      ) : (
        !isCurrent &&
        !isEmpty && (
          <Button kind="primary" className="self-start" disabled={isOutdated} onClick={() => mutate()}>
            {texts.apply(update, removes ? removed.length : 0)}
          </Button>
        )
      )}
      {error && (
        <Notice kind="error" title={texts.notImported}>
          {error.message}
        </Notice>
      )}
      {data && <Outcome applied={data} />}
      <LeftOut leftOut={leftOut} />
      <ChangedRules title={texts.groups.created} rules={created} />
      <ChangedRules title={texts.groups.updated} rules={updated} />
      <RemovedRules rules={removed} />
    </div>
  );
}

function Outcome({ applied }: { applied: AppliedUpdate }) {
  return (
    <div className="flex flex-col gap-2">
      <p className="tabular">
        {texts.outcome(applied)}.{' '}
        <Link to="/detections" className="text-accent hover:underline">
          {texts.detections}
        </Link>
      </p>
      {applied.failed.length > 0 && (
        <Notice kind="warning" title={texts.failedRules(applied.failed.length)}>
          <ul>
            {applied.failed.slice(0, failedMax).map(({ ruleId, name, detail }) => (
              <li key={ruleId}>{`${name}: ${detail}`}</li>
            ))}
          </ul>
          {applied.failed.length > failedMax && formatNumber(applied.failed.length - failedMax)}
        </Notice>
      )}
    </div>
  );
}

const failedMax = 20;
