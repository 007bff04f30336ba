import { checkModel, modelsQuery, type Model, type ModelCheck } from '../../api/models.ts';
import { texts as all } from '../../texts/settings.ts';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { RelativeTime } from '../../ui/time.tsx';

const texts = all.models;

/** What the last check of a model found, each problem with what to change, and a button that checks it again. */
export function ModelHealth({ model: { alias, check, misfit } }: { model: Model }) {
  const run = useChange({
    change: checkModel,
    refresh: [modelsQuery.queryKey],
    done: ({ ok }: ModelCheck) => texts.checked(alias, ok),
    failed: texts.checkFailed,
  });
  return (
    <div className="flex items-start gap-3 text-12">
      <div role="status" className="max-w-[48ch] min-w-0 grow">
        {check ? <Outcome check={check} /> : <span className="text-faint">{texts.notChecked}</span>}
        {misfit && (
          <p className="pt-1 break-words">
            <span className="font-strong text-bad">{misfit.kind}</span> · <RelativeTime time={misfit.at} />{' '}
            <span className="text-muted">{misfit.remedy}</span>
          </p>
        )}
      </div>
      <Button disabled={run.isPending} title={texts.checkHint} onClick={() => run.mutate(alias)}>
        {run.isPending ? texts.checking : texts.check}
      </Button>
    </div>
  );
}

function Outcome({ check: { ok, checks, checkedAt, latencyMs } }: { check: ModelCheck }) {
  const problems = checks.filter((one) => !one.ok);
  return (
    <>
      <p className={ok ? '' : 'font-strong text-bad'}>
        {ok ? texts.works(latencyMs ?? 0) : texts.hasProblems(problems.length)} · <RelativeTime time={checkedAt} />
      </p>
      {problems.map(({ name, detail, remedy }) => (
        <p key={name} className="pt-1 break-words text-muted">
          <span className="font-strong">{texts.checks[name]}</span>: {detail} {remedy}
        </p>
      ))}
    </>
  );
}
