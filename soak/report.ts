import { cpus } from 'node:os';
import type { Findings } from './check.ts';
import { median } from './memory.ts';

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
const number = (n: number, digits = 0): string => n.toLocaleString('en', { maximumFractionDigits: digits });

const intro = `Real schedulers and workers as processes of their own, the embedded PostgreSQL with its usual settings, one organization's logs in the embedded store, a SIEM and a language model behind HTTP that know every event beforehand. Slot time leaps to the next hour once the work of the one before is done, or has been waited for long enough; within an hour it goes with the machine's clock. Meanwhile SIEMs and models do not answer for hours (once for longer than windows and candidates wait), workers are killed with SIGKILL, queries turn out in error until a person comes, detections are deleted and restored. At the end the database is held against the events: the run fails by exit code for any deviation.`;

const late =
  'Gaps `late`: where slots come faster than the machine runs them (no hour is waited for without end), lanes are served in turn, so that the organization with most detections falls behind, and windows are looked back for over 24 h only.';

/** The findings as a section of Markdown. */
export function reportOf(found: Findings, command: string): string {
  const { plan, faults, windows, seconds: took, hits, killed, askedAgain, ends, gaps, memory } = found;
  const { options } = plan;
  const hourly = options.detections * found.lastHour;
  return [
    '## Soak',
    `Command: \`${command}\``,
    intro,
    `${number(options.detections)} hourly detections of ${options.organizations} organizations, the first with half of them, over ${options.days} simulated days in ${number(took / 60, 1)} minutes (${number(hourly / took)} slots a second), ${options.workers} worker processes of ${options.runsAtOnce} runs each. ${killed} times a worker was killed with SIGKILL. The workers took ${((found.cpuSeconds * 1000) / windows).toFixed(1)} ms of processor time a window; the machine has ${cpus().length} cores and a load of ${found.load.toFixed(0)} in the mean.`,
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
    "Time from a slot to the start of its run, in seconds. Below an hour it is the machine's time; beyond, the slot clock had leapt on while the run waited for its turn or for the lease of a killed worker to end (a minute).",
    lagTable(found),
    table(['runs ended', 'runs', 'further attempts'], ends.map(({ how, runs, again }) => [how, number(runs), number(again)])), // prettier-ignore
    table(['gaps recorded', 'gaps', 'hours'], gaps.map((gap) => [gap.reason, number(gap.gaps), number(gap.hours)])), // prettier-ignore
    late,
    table(
      [
        'memory of a worker',
        'hours alive',
        'held, second quarter, MiB',
        'last quarter',
        'slope a day',
        'resident at most',
      ],
      memory.map((one) => [String(one.worker + 1), number(one.hours), number(one.early), number(one.late), one.slope.toFixed(2), number(one.resident)]), // prettier-ignore
    ),
    ...(isFull(found)
      ? []
      : [
          `Not the whole of it: that is \`npm run soak -- --write\`, ${number(fullWindows)} windows, at this rate ${number(fullWindows / (hourly / took) / 3600, 1)} hours.`,
        ]),
  ].join('\n\n');
}

const fullWindows = 2000 * 14 * 24;
const isFull = ({ plan: { options } }: Findings): boolean => options.detections * options.days * 24 >= fullWindows;

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
