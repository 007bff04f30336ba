import { serveModelStandIn } from '../../test/support/models/model-server.ts';
import { scriptedAnalysts, toBrain, toChecker, type AnalystName } from '../../test/support/models/analysts/analysts.ts';
import { createTruthfulVerifier } from '../../test/support/models/analysts/truthful-verifier.ts';
import type { QualityFigure } from '../figures.ts';
import { requireData } from '../recorded-inputs.ts';
import { formatAgentFigures, readColumns, renderAgentsPage, writeColumns, type Column } from './agents-page.ts';
import { isAttack, readCases, type AgentCase } from './case-table.ts';
import { caseAlias, verifierAlias, withCaseWorld, type CaseProgram, type CaseWorld } from './case-world.ts';
import { createTruth, measureColumn } from './column-figures.ts';
import { runColumn, type CaseResult, type ColumnResult } from './run-column.ts';

/**
 * `model` is the URL of a live model that speaks the chat completions of OpenAI, `name` and `size` how the page calls it. `cases` limits how many cases
 * it judges, `analyst` which column is measured.
 */
export type AgentOptions = {
  verbose: boolean;
  write: boolean;
  model: string | undefined;
  name: string | undefined;
  size: string | undefined;
  context: string | undefined;
  cases: string | undefined;
  analyst: string | undefined;
};

/** US dollars per million tokens, as the page says. */
const price = { inputPerMillion: 1, outputPerMillion: 5 };
const liveCasesMax = 50;

/** Runs the recorded investigations through the whole program with each scripted analyst, with and without another alias that verifies, or with a live model. */
export async function measureAgents(options: AgentOptions): Promise<QualityFigure[]> {
  requireData();
  const all = readCases();
  const cases = options.model === undefined ? all : chooseEvenly(all, Number(options.cases ?? liveCasesMax));
  const log = (line: string): void => console.log(line);
  const columns = await withCaseWorld(cases, log, (world) =>
    options.model === undefined
      ? measureScripted(world, cases, options)
      : measureLive(world, cases, { ...options, model: options.model }),
  );
  if (options.write) {
    const kept = readColumns().filter(
      (one) => !columns.some((column) => column.name === one.name && column.verifier === one.verifier),
    );
    writeColumns([...kept, ...columns]);
    renderAgentsPage();
  }
  return formatAgentFigures(columns);
}

/** Takes every n-th case, so that each kind has its share. */
export function chooseEvenly(cases: readonly AgentCase[], max: number): AgentCase[] {
  const count = Math.min(max, cases.length);
  return Array.from({ length: count }, (_, index) => cases[Math.floor((index * cases.length) / count)]!);
}

export const today = (): string => new Date().toISOString().slice(0, 10);

async function measureScripted(
  world: CaseWorld,
  cases: readonly AgentCase[],
  { verbose, analyst }: AgentOptions,
): Promise<Column[]> {
  const isHarmless = createTruth(cases);
  const columns: Column[] = [];
  for (const name of Object.keys(scriptedAnalysts) as AnalystName[]) {
    if (analyst !== undefined && analyst !== name) continue;
    for (const verifier of ['truthful', 'itself'] as const) {
      const scripted = { name, verifies: verifier === 'truthful', isHarmless };
      const result = await withScripted(world, scripted, (program) => runColumn(world, program, cases));
      if (verbose) printColumn(`${name}, verified by ${verifier}`, result);
      const figures = measureColumn(result, isHarmless);
      columns.push({
        name,
        verifier,
        model: null,
        size: null,
        date: today(),
        description: scriptedAnalysts[name].description,
        figures,
      });
      console.log(`${name}, verifier ${verifier}: ${figures.seconds.toFixed(0)} s`);
    }
  }
  return columns;
}

type ScriptedColumn = { name: AnalystName; verifies: boolean; isHarmless: (entity: string) => boolean };

/** Runs `work` in a program whose alias of the cases is a scripted analyst, and whose verifier always answers truly if it `verifies`. */
export async function withScripted<T>(
  world: CaseWorld,
  { name, verifies, isHarmless }: ScriptedColumn,
  work: (program: CaseProgram) => Promise<T>,
): Promise<T> {
  const analyst = await serveModelStandIn('openai-chat', toBrain(scriptedAnalysts[name]));
  const verifier = await serveModelStandIn('openai-chat');
  analyst.check(toChecker(scriptedAnalysts[name]));
  verifier.check(createTruthfulVerifier(isHarmless));
  const entry = (model: string, baseUrl: string) => ({
    provider: 'openai',
    api: 'chat',
    model,
    baseUrl,
    apiKey: 'none',
    price,
    entitiesAtOnce: 4,
  });
  const models = {
    [caseAlias]: entry(name, analyst.url),
    ...(verifies ? { [verifierAlias]: entry('truthful', verifier.url) } : {}),
  };
  try {
    return await world.withProgram(models, work);
  } finally {
    await analyst.close();
    await verifier.close();
  }
}

async function measureLive(
  world: CaseWorld,
  cases: readonly AgentCase[],
  { model: baseUrl, name = 'live model', size = 'unknown', context = '16384' }: AgentOptions & { model: string },
): Promise<Column[]> {
  const contextTokens = Number(context);
  const entry = {
    provider: 'openai',
    api: 'chat',
    model: name,
    baseUrl,
    apiKey: 'none',
    price: { inputPerMillion: 0, outputPerMillion: 0 },
    contextTokens,
    maxOutputTokens: Math.floor(contextTokens / 4),
    timeoutSeconds: 300,
    maxRetries: 0,
    entitiesAtOnce: 1,
  };
  // A small server answers one question at a time, and remembers the prompt of one conversation.
  const result = await world.withProgram({ [caseAlias]: entry }, (program) => runColumn(world, program, cases, 1));
  printColumn(name, result);
  return [
    {
      name,
      verifier: 'itself',
      model: name,
      size,
      date: today(),
      description: null,
      figures: measureColumn(result, null),
    },
  ];
}

export const expectedOf = (one: AgentCase): string =>
  isAttack(one) ? 'raise' : one.kind === 'missing' ? 'undecided' : 'dismiss';

/** Prints what a person reads: each case that ended otherwise than expected, or all of a live model, with its claims and what they cite. */
function printColumn(name: string, { results, failures }: ColumnResult): void {
  console.log(`\n${name}`);
  for (const failure of failures) console.log(`failed: ${failure}`);
  for (const result of results) printResult(result);
}

export function printResult({ case: one, outcome, hitId, verdict }: CaseResult): void {
  const isExpected = outcome === expectedOf(one);
  console.log(
    `${isExpected ? 'as expected' : 'OTHERWISE'}: ${one.id}: ${outcome}${hitId === null ? '' : ', a hit'}; expected ${expectedOf(one)}, because: ${one.why}`,
  );
  for (const { text, kind, status, reason, cites } of verdict?.claims ?? [])
    console.log(
      `  ${status} ${kind}: ${text.slice(0, 200)} ← ${JSON.stringify(cites).slice(0, 400)}${reason === null ? '' : ` (${reason})`}`,
    );
  if (verdict?.openQuestion) console.log(`  open: ${verdict.openQuestion}`);
}
