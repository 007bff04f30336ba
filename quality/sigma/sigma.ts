import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertTask } from '../../src/detection/sigma/convert/convert-task.ts';
import type { ConvertedRule } from '../../src/detection/sigma/convert/convert-rules.ts';
import { openEvents } from '../../test/support/detection/sigma/sigma-events.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';
import { readRecordedRows } from '../recorded-inputs.ts';
import { compareWithClickhouse, compareWithPostgres, windowsColumns } from './sigma-engines.ts';
import { measureRecordings, type WindowsRule } from './sigma-windows.ts';

type SigmaCase = { ruleId: string; ruleYaml: string; matchCount: number | null; events: Record<string, unknown>[] };
type LibraryRule = { path: string; yaml: string };
type Reference = { rules: number; matches: Record<string, string[]>; unsupported: Record<string, string> };

const referenceFile = join(import.meta.dirname, 'sigma-reference.json');
/** The columns by which a conversion recognizes the form of the Windows events of the recordings. */
const flatColumns = ['EventID', 'Channel'];

/**
 * Converts all recorded Sigma rules, runs them on the events of all regression cases, and compares the matches with those that pySigma's SQLite
 * backend found on the same events (`sigma-reference.json`), and with those of the same rules on other engines. `clickhouse` is the address of a
 * ClickHouse server.
 */
export async function measureSigma(verbose: boolean, clickhouse?: string): Promise<QualityFigure[]> {
  const cases = readRecordedRows<SigmaCase>('detections/sigma/regression.ndjson.gz');
  const library = readRecordedRows<LibraryRule>('detections/sigma/rules.ndjson.gz');
  const texts = new Map(
    [...library.map(({ yaml }) => yaml), ...cases.map(({ ruleYaml }) => ruleYaml)].map((text) => [text, text]),
  );
  const converted = [...texts.values()].flatMap((text) => convert(text));
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-sigma-'));
  const keys = cases.flatMap(({ events }, n) => events.map((_event, m) => `${n}:${m}`));
  const events = cases.flatMap(({ events }) => events);
  const others = [...new Set(converted.map(({ result }) => result.dataset ?? 'windows'))].filter(
    (name) => name !== 'windows',
  );
  const engine = await openEvents(folder, {
    windows: events,
    ...Object.fromEntries(others.map((name) => [name, [{ '@timestamp': '2024-06-01T00:00:00Z', nothing: 'x' }]])),
  });
  try {
    const runs = await runAll(converted, async (query) =>
      // The engine numbers the events of a dataset from 1.
      (await engine.run(query)).map((row) => keys[Number(String(row['_id']).split(':')[1]) - 1]!),
    );
    const failed = runs.filter(({ problem }) => problem !== null);
    const running = runs.length - failed.length;
    const embedded = new Map(
      runs.map(({ id, problem, ids }) => [
        id!,
        problem === null ? new Set([...ids].map((key) => keys.indexOf(key))) : null,
      ]),
    );
    return [
      {
        name: 'rules that convert and run on the embedded engine',
        measured: `${formatRatio(running, runs.length)} (${running}/${runs.length})`,
        target: '≥ 0.99',
        isMet: running / runs.length >= 0.99,
      },
      ...failed.map(({ title, problem }) => ({ name: `does not run: ${title}`, measured: problem! })),
      checkCases(cases, runs, verbose),
      ...compareWithReference(runs, verbose),
      ...(await compareWithPostgres([...texts.values()], events, embedded)),
      ...(clickhouse ? await compareWithClickhouse([...texts.values()], events, embedded, clickhouse) : []),
      ...measureRecordings(listWindowsRules(library), verbose),
    ];
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true });
  }
}

const conversion = { kind: 'local' as const, timeColumn: '_time', mappingFolders: [] };
const convert = (rules: string): ConvertedRule[] =>
  convertTask({ ...conversion, rules, datasets: [{ name: 'windows', columns: windowsColumns }] });

/** Returns the rules of the Windows dataset with the techniques of their tags. */
function listWindowsRules(library: readonly LibraryRule[]): WindowsRule[] {
  return library.flatMap(({ yaml }) => {
    const [rule] = convertTask({ ...conversion, rules: yaml, datasets: [{ name: 'windows', columns: flatColumns }] });
    if (rule?.ruleQuery?.table !== 'windows') return [];
    const techniques = [...yaml.matchAll(/^\s*- attack\.(t\d{4}(?:\.\d{3})?)\s*$/gm)].map(([, id]) =>
      id!.toUpperCase(),
    );
    return [{ title: rule.result.title!, techniques, ruleQuery: rule.ruleQuery }];
  });
}

type Run = { id: string | null; title: string | null; problem: string | null; ids: Set<string> };

async function runAll(converted: readonly ConvertedRule[], run: (query: string) => Promise<string[]>): Promise<Run[]> {
  const waiting = converted.entries();
  const runs: Run[] = [];
  // The engine works on two queries at a time.
  const work = async (): Promise<void> => {
    for (const [index, { result }] of waiting) {
      const { id, title, query, errors } = result;
      try {
        if (query === null) throw new Error(errors[0]?.message ?? 'no query');
        const ids = await run(query);
        // Every other dataset has one event without fields.
        runs[index] = { id, title, problem: null, ids: new Set(result.dataset === 'windows' ? ids : []) };
      } catch (error) {
        runs[index] = { id, title, problem: (error as Error).message, ids: new Set() };
      }
    }
  };
  await Promise.all([work(), work()]);
  return runs;
}

function checkCases(cases: readonly SigmaCase[], runs: readonly Run[], verbose: boolean): QualityFigure {
  const matched = cases.filter(({ ruleId, matchCount }, n) => {
    const found = [...(runs.find(({ id }) => id === ruleId)?.ids ?? [])].filter((id) => id.startsWith(`${n}:`)).length;
    const isMatched = found >= (matchCount ?? 1);
    if (!isMatched && verbose) console.log(`case ${n}, rule ${ruleId}: ${found} of ${matchCount ?? 1}`);
    return isMatched;
  }).length;
  return {
    name: 'regression cases with as many matches as expected',
    measured: `${matched}/${cases.length}`,
    target: 'all',
    isMet: matched === cases.length,
  };
}

function compareWithReference(runs: readonly Run[], verbose: boolean): QualityFigure[] {
  if (!existsSync(referenceFile)) return [];
  const { matches, unsupported, rules } = JSON.parse(readFileSync(referenceFile, 'utf8')) as Reference;
  let [same, more, fewer] = [0, 0, 0];
  for (const { id, title, ids, problem } of runs) {
    if (id === null || problem !== null || Object.hasOwn(unsupported, id)) continue;
    const expected = new Set(matches[id]);
    const added = [...ids].filter((one) => !expected.has(one));
    const missing = [...expected].filter((one) => !ids.has(one));
    same += ids.size - added.length;
    more += added.length;
    fewer += missing.length;
    if (verbose && added.length + missing.length > 0)
      console.log(`${title}: only here ${added.join(' ')}; only pySigma ${missing.join(' ')}`);
  }
  return [
    {
      name: `matches of ${rules} Windows rules on all events that pySigma with SQLite also finds`,
      measured: String(same),
    },
    {
      name: 'matches that pySigma does not find: filters on fields that an event does not have',
      measured: String(more),
    },
    { name: 'matches that only pySigma finds', measured: String(fewer), target: '0', isMet: fewer === 0 },
  ];
}
