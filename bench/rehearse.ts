import { rehearseNext } from '../src/agents/rehearsals/rehearse.ts';
import { receiveLogs } from '../src/detection/log-ingest/receive-logs.ts';
import { importSigma } from '../src/detection/sigma/import-rules.ts';
import { operatorOf } from '../src/platform/http/caller.ts';
import { dataDir } from '../test/support/data.ts';
import { withClient, withInProcessProgram, type InProcessProgram } from '../test/support/program-environment.ts';
import { measureMs, type Benchmark, type BenchmarkRow } from './benchmark.ts';
import { readProcessorTime } from './processor-time.ts';
import { readEvents, readRules } from './sigma-set.ts';

const [rulesMax, eventsMax] = [3_000, 2_000];
const dataset = 'windows';

/** Rehearses everything that is due, as a night does. */
async function rehearseAll({ deps }: InProcessProgram, report: (text: string) => void): Promise<number> {
  let turns = 0;
  while (await rehearseNext(deps, null, new AbortController().signal)) {
    turns += 1;
    if (turns % 10 === 0) report(`${turns} turns`);
  }
  return turns;
}

async function measure(program: InProcessProgram, report: (text: string) => void): Promise<BenchmarkRow[]> {
  const data = dataDir();
  if (!data) throw new Error('The recorded inputs are missing. Set TOCSIN_TEST_DATA to their folder.');
  const { deps, orgId, url } = program;
  const rules = readRules(data).slice(0, rulesMax);
  const recorded = readEvents(data, []).all.slice(0, eventsMax);
  const time = new Date(Date.now() - 3_600_000).toISOString();
  const lines = recorded.map((event, n) => JSON.stringify({ ...event, '@timestamp': time, Copy: n }));
  await receiveLogs(deps, orgId, { dataset, body: Buffer.from(lines.join('\n')), timeField: '@timestamp' });
  report(`importing ${rules.length} rules`);
  await importSigma(deps, operatorOf(orgId), { rules: rules.map(({ yaml }) => yaml).join('\n---\n'), enable: true });
  report('rehearsing');
  const before = await readProcessorTime(url);
  const ms = await measureMs(() => rehearseAll(program, report));
  const after = await readProcessorTime(url);
  const { rows } = await withClient(url, (client) =>
    client.query<{ done: number; failed: number; fired: number }>(
      "select count(rehearsed_at)::int as done, count(failure)::int as failed, count(*) filter (where fired <> '{}')::int as fired from rehearsed_detections",
    ),
  );
  const { done, failed, fired } = rows[0]!;
  report(`${done} rehearsed, ${failed} failed, ${fired} fired`);
  if (failed > 0 || fired === 0) throw new Error(`${failed} of ${done} rehearsals failed, ${fired} fired.`);
  const spent = (part: 'program' | 'engines' | 'database'): number => (after[part] - before[part]) / 1000;
  return [
    { label: `${done} detections, all attacks`, unit: 's', tocsin: ms / 1000 },
    { label: 'processor time of the program', unit: 's', tocsin: spent('program') },
    { label: 'processor time of the engines', unit: 's', tocsin: spent('engines') },
    { label: 'processor time of the database', unit: 's', tocsin: spent('database') },
  ];
}

export const rehearseBenchmark: Benchmark = {
  title: `A night of rehearsals with ${rulesMax.toLocaleString('en')} Sigma rules and ${eventsMax.toLocaleString('en')} Windows events`,
  run: (report) => withInProcessProgram((program) => measure(program, report)),
};
