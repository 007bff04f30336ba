import { cpus } from 'node:os';
import type { SoakFindings } from './checks/check-soak.ts';
import { upperMedian } from './checks/memory-growth.ts';

const toSeconds = (ms: number): string => (ms / 1000).toFixed(1);
const number = (n: number, digits = 0): string => n.toLocaleString('en', { maximumFractionDigits: digits });

const intro = `The soak runs real schedulers and workers in separate processes on the embedded PostgreSQL with its default settings. Organizations keep their logs in the embedded log store or query a scripted SIEM over HTTP, and a scripted language model judges some of the hits.

The slot clock jumps to the next hour when the work of the previous hour is done, or after a maximum wait. Within an hour it follows the machine's clock.

Meanwhile SIEMs and models are down for hours (once for longer than windows and candidates wait), workers are killed with SIGKILL, queries fail until a user fixes them, forwarders of the embedded log store catch up after hours, and detections are deleted and restored.

At the end the database is compared with the scripted events. Any deviation makes the exit code 1.`;

const late =
  'Gaps with the reason `late` appear if slots come faster than the machine can run them, because the wait for each hour is limited. Organizations are served in turn, so the one with the most detections falls behind, and missed windows are only examined for 24 hours.';

/** Renders the findings as a Markdown section. */
export function renderReport(findings: SoakFindings, command: string): string {
  const { plan, deviations, windows, seconds, hits, outcomes, gaps, memory } = findings;
  const { options } = plan;
  const slots = options.detections * findings.lastHour;
  const cpuMsPerWindow = ((findings.cpuSeconds * 1000) / windows).toFixed(1);
  return [
    '## Soak',
    `Command: \`${command}\``,
    intro,
    `${number(options.detections)} hourly detections in ${options.organizations} organizations, half of them in the first, with the logs of ${options.localOrganizations} in the embedded log store, over ${options.days} simulated days in ${number(seconds / 60, 1)} minutes (${number(slots / seconds)} slots per second), with ${options.workers} worker processes of ${options.runsAtOnce} concurrent runs each. Workers were killed ${findings.killed} times. The workers used ${cpuMsPerWindow} ms of processor time per window. The machine has ${cpus().length} cores and had a mean load of ${findings.load.toFixed(0)}.`,
    table(
      ['what', 'measured', 'required'],
      [
        ['slots; each has exactly one run, except while a detection is deleted or disabled', number(slots), ''],
        [
          'windows examined; together with the recorded gaps they cover the whole time without overlap',
          number(windows),
          '',
        ],
        ['expected hits; each exists once with its occurrences', number(hits.expected), ''],
        ['hits without a verdict of the model, raised from their facts', number(hits.unjudged), ''],
        ['windows queried more than once (killed worker or repeated attempt)', number(findings.repeatedQueries), ''],
        ['deviations, including the daily statistics and the growth of memory', number(deviations.count), '0'],
      ],
    ),
    ...(deviations.count > 0 ? [deviations.first.map((text) => `- ${text}`).join('\n')] : []),
    'Time from a slot to the start of its run, in seconds. Values below an hour are machine time. Values above it mean that the slot clock jumped while the run waited for its turn or for the lease of a killed worker to expire (one minute).',
    renderStartDelays(findings),
    table(['run outcome', 'runs', 'repeated attempts'], outcomes.map(({ outcome, runs, retries }) => [outcome, number(runs), number(retries)])), // prettier-ignore
    table(['gap reason', 'gaps', 'hours'], gaps.map((gap) => [gap.reason, number(gap.gaps), number(gap.hours)])), // prettier-ignore
    late,
    table(
      [
        'worker',
        'hours alive',
        'live in second quarter, MiB',
        'live in last quarter, MiB',
        'growth per day, MiB',
        'peak resident, MiB',
      ],
      memory.map((one) => [String(one.worker + 1), number(one.hours), number(one.early), number(one.late), one.slope.toFixed(2), number(one.resident)]), // prettier-ignore
    ),
    ...(isFullSize(findings)
      ? []
      : [
          `This was a reduced run. The full run, \`npm run soak -- --write\`, has ${number(fullWindows)} windows and would take ${number(fullWindows / (slots / seconds) / 3600, 1)} hours at this rate.`,
        ]),
  ].join('\n\n');
}

const fullWindows = 2000 * 14 * 24;
const isFullSize = ({ plan: { options } }: SoakFindings): boolean =>
  options.detections * options.days * 24 >= fullWindows;

function renderStartDelays({ startDelays }: SoakFindings): string {
  const largest = startDelays.find(({ org }) => org === 0)!;
  const others = startDelays.filter(({ org }) => org !== 0).toSorted((a, b) => a.p99 - b.p99);
  const medianOrg = others.find(({ p99 }) => p99 === upperMedian(others.map((one) => one.p99)));
  const lines = ([['the largest', largest], ['median of the others', medianOrg], ['worst of the others', others.at(-1)]] as const) // prettier-ignore
    .flatMap(([name, delay]) => (delay ? [[name, number(delay.detections), number(delay.runs), toSeconds(delay.p50), toSeconds(delay.p99), toSeconds(delay.max)]] : [])); // prettier-ignore
  return table(['organization', 'detections', 'runs started', 'median', '99th percentile', 'longest'], lines);
}

function table(head: string[], lines: string[][]): string {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
