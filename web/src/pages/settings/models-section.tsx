import { useQuery } from '@tanstack/react-query';
import { budgetsQuery, modelsQuery, type Model, checkModel, type ModelCheck } from '../../api/models.ts';
import { formatMoney, formatNumber } from '../../lib/text.ts';
import { texts as all } from '../../texts/settings.ts';
import { CodeBlock } from '../../ui/code/code-block.tsx';
import { Agents } from './agents.tsx';
import { Badge, Loaded } from '../../ui/lists/rows.tsx';
import { SettingsSection } from './section.tsx';
import { Table, type TableColumn } from '../../ui/lists/table.tsx';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { RelativeTime } from '../../ui/time.tsx';

const texts = all.models;
const example = `TOCSIN_MODELS='{
  "default": {
    "provider": "anthropic",
    "model": "claude-sonnet-4-5",
    "apiKeyEnv": "ANTHROPIC_API_KEY",
    "price": { "inputPerMillion": 3, "outputPerMillion": 15 },
    "budgets": { "usdPerOrganizationMonth": 50 }
  }
}'`;

const formatUsd = (usd: number | null): string => (usd === null ? formatMoney(usd) : `$${usd.toFixed(2)}`);

type Budget = {
  alias: string;
  tokens: number;
  tokensMax: number | null;
  costUsd: number | null;
  costUsdMax: number | null;
};

/** Returns the used share of the organization’s budget: of the amount if it has a limit, otherwise of the tokens. */
function describeUse({ tokens, tokensMax, costUsd, costUsdMax }: Budget): string {
  if (costUsd !== null && costUsdMax !== null) return `${formatUsd(costUsd)} ${texts.of} ${formatUsd(costUsdMax)}`;
  if (tokensMax !== null) return `${formatNumber(tokens)} ${texts.of} ${formatNumber(tokensMax)} ${texts.tokens}`;
  return `${formatUsd(costUsd)} · ${formatNumber(tokens)} ${texts.tokens}`;
}

export function ModelsSection() {
  const models = useQuery(modelsQuery);
  const { data: overview } = useQuery(budgetsQuery);
  const columns: TableColumn<Model>[] = [
    {
      header: texts.alias,
      cell: ({ alias, paused }) => (
        <span className="flex items-center gap-2">
          <span className="font-strong">{alias}</span>
          {paused && <Badge isBad>{texts.paused}</Badge>}
        </span>
      ),
    },
    {
      header: texts.model,
      cell: ({ model, local, paused, fallbacks }) => (
        <>
          <span className="inline-flex items-center gap-2 whitespace-nowrap">
            {model === 'analyst' ? texts.analyst : <span className="font-mono">{model}</span>}
            {local && <Badge>{texts.local}</Badge>}
          </span>
          {fallbacks.length > 0 && (
            <span className="block text-muted">
              {texts.fallbacks} {fallbacks.join(', ')}
            </span>
          )}
          {paused && <span className="block text-muted">{paused.message}</span>}
        </>
      ),
    },
    { header: texts.health, cell: (model) => (model.model === 'analyst' ? '–' : <ModelHealth model={model} />) },
    { header: texts.input, isFigure: true, cell: ({ price }) => price?.inputPerMillion ?? formatMoney(null) },
    { header: texts.output, isFigure: true, cell: ({ price }) => price?.outputPerMillion ?? formatMoney(null) },
    {
      header: texts.used,
      isFigure: true,
      cell: ({ alias }) => {
        const budget = overview?.budgets.find((one) => one.alias === alias);
        if (!budget) return overview ? <span className="text-faint">{texts.unused}</span> : null;
        return <span className={budget.share >= 1 ? 'text-bad' : ''}>{describeUse(budget)}</span>;
      },
    },
  ];
  return (
    <>
      <SettingsSection title={all.sections.models} description={texts.description}>
        <Loaded query={models}>
          {({ models: rows }) => (
            <Table label={all.sections.models} columns={columns} rows={rows} rowKey={({ alias }) => alias} />
          )}
        </Loaded>
        <details>
          <summary className="w-fit text-muted hover:text-ink">{texts.configure}</summary>
          <p className="max-w-[72ch] pt-2 pb-3 text-muted">{texts.configureBody}</p>
          <CodeBlock label={texts.configure} text={example} />
        </details>
      </SettingsSection>
      <Agents />
    </>
  );
}

/** What the last check of a model found, each problem with what to change, and a button that checks it again. */
function ModelHealth({ model: { alias, check, misfit } }: { model: Model }) {
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
