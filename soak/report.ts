import type { Findings } from './check.ts';
import { median } from './memory.ts';

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const number = (n: number, digits = 0): string => n.toLocaleString('en', { maximumFractionDigits: digits });

/** The findings as a section of Markdown. */
export function reportOf(findings: Findings, command: string): string {
  const { plan, faults, windows, seconds: took, hits, killed, askedAgain, ends, gaps, memory } = findings;
  const { options } = plan;
  const hourly = options.detections * findings.lastHour;
  return [
    '## Soak',
    `\`${command}\``,
    `${number(options.detections)} hourly detections of ${options.organizations} organizations, the first with half of them, over ${options.days} simulated days in ${number(took / 60, 1)} minutes (${number(hourly / took)} slots a second), ${options.workers} worker processes of ${options.runsAtOnce} runs each. ${killed} times a worker was killed with SIGKILL.`,
    table(
      ['what', 'measured', 'must be'],
      [
        ['slots, each with exactly one run row but for time away', number(hourly), ''],
        ['windows examined; with the recorded gaps they are the whole time line, none twice', number(windows), ''],
        ['hits that the events demand, each there once with its occurrences', number(hits.due), ''],
        ['hits that stand by their facts, since no model came to them within a day', number(hits.unjudged), ''],
        ['windows asked for more than once (a killed worker, an attempt again)', number(askedAgain), ''],
        ['deviations from all that, from the recount of the roll-up and from flat memory', number(faults.count), '0'],
      ],
    ),
    ...(faults.count > 0 ? [faults.first.map((text) => `- ${text}`).join('\n')] : []),
    'Time from a slot to the start of its run, in seconds:',
    lagTable(findings),
    table(['runs ended', 'runs', 'further attempts'], ends.map(({ how, runs, again }) => [how, number(runs), number(again)])), // prettier-ignore
    table(['gaps recorded', 'gaps', 'hours'], gaps.map((gap) => [gap.reason, number(gap.gaps), number(gap.hours)])), // prettier-ignore
    table(
      ['memory of a worker', 'hours alive', 'second quarter, MiB', 'last quarter, MiB', 'slope, MiB a day'],
      memory.map((one) => [String(one.worker + 1), number(one.hours), number(one.early), number(one.late), one.slope.toFixed(2)]), // prettier-ignore
    ),
  ].join('\n\n');
}

function lagTable({ lags }: Findings): string {
  const big = lags.find(({ org }) => org === 0)!;
  const others = lags.filter(({ org }) => org !== 0).toSorted((a, b) => a.p99 - b.p99);
  const middle = others.find(({ p99 }) => p99 === median(others.map((one) => one.p99)));
  const lines = ([['the big one', big], ['median of the others', middle], ['worst of the others', others.at(-1)]] as const) // prettier-ignore
    .flatMap(([name, lag]) => (lag ? [[name, number(lag.detections), number(lag.runs), seconds(lag.p50), seconds(lag.p99), seconds(lag.max)]] : [])); // prettier-ignore
  return table(['organization', 'detections', 'runs begun', 'median', '99th percentile', 'longest'], lines);
}

function table(head: string[], lines: string[][]): string {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
