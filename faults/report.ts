import { cpus } from 'node:os';
import { faultKinds } from './fault-kinds.ts';
import type { FaultFindings } from './run-faults.ts';

const number = (n: number, digits = 0): string => n.toLocaleString('en', { maximumFractionDigits: digits });

const introduction = `This page is written by \`npm run faults -- --write\`. A short form of the run is part of \`npm test\`.

The run starts the service in several processes on two machines (data directories on small disks of their own, where the system allows it), which share object storage and PostgreSQL with a synchronous standby. Each process reaches the database through a proxy. Organizations send events and create detections all the time: detections of single events, of them on arrival, with a model's verdict, and of first occurrences. Slot time advances by an hour as soon as the events of the hour are acknowledged, whether or not the runs keep up. Clients repeat a request that gets no response, or 409, 503 or 507, with the same body.

Meanwhile faults are injected in three lanes, which overlap. What a service manager does is done for the processes and for PostgreSQL: those that end are started again. Nobody does anything else. After twelve slots, the faults pause until all work is done, and the state is compared with what was sent:

- every acknowledged event is stored once, and every acknowledged detection exists;
- every slot has one run, and the examined time of every detection is one range from the first slot to the last, without an open gap;
- every planted event is one hit with one occurrence that cites it, and there is no other hit;
- no slot found an event that was missed on arrival.`;

const notes = `### How faults are made

- **Clocks.** The processes take the time from one function, which the run replaces, and compare it with a clock that never jumps, as in production. PostgreSQL's \`now()\` and \`clock_timestamp()\` are replaced by functions with an offset in the schema that statements search first. Column defaults keep the true clock.
- **Failover.** The primary is killed for good. The standby confirmed every commit, is promoted, and has all of them. Until the old primary is a synchronous standby again, from a new copy, commits do not wait for one.
- **Upgrade.** The new version is this one with one migration more. The migration is applied while the old version works, and processes are replaced one by one. Before the first release there is no older code to compare with.
- **Power failure.** The operating system survives, so that what was written but not synced to the disk is not lost.
- The seed fixes the sequence of the faults in each lane. When each of them meets the service differs between runs.`;

/** Renders the findings as docs/reference/faults.md. */
export function renderReport(findings: FaultFindings): string {
  const { options, counts, injected, skipped, deviations, recoverySeconds } = findings;
  const total = [...injected.values()].reduce((sum, n) => sum + n, 0);
  const sorted = recoverySeconds.toSorted((a, b) => a - b);
  return `${[
    '# Faults',
    introduction,
    '## Last run',
    `Command: \`npm run faults -- --seed ${options.seed} --faults ${options.faultsMax} --seconds ${options.secondsMax}\``,
    `**${number(total)} faults** in ${number(findings.seconds / 60, 1)} minutes on ${cpus().length} cores, in ${findings.rounds} rounds, with ${options.processes.length} processes (${options.processes.map((tasks) => `\`${tasks}\``).join(', ')}).`,
    table(
      ['fault', 'injected'],
      faultKinds.map(({ name }) => [name, skipped.has(name) ? `skipped: ${skipped.get(name)}` : number(injected.get(name) ?? 0)]), // prettier-ignore
    ),
    table(
      ['checked', 'number'],
      [
        ['acknowledged events', number(counts.events)],
        ['acknowledged detections', number(counts.writes)],
        ['slots of detections', number(counts.windows)],
        ['hits', number(counts.hits)],
        ['**deviations**', `**${number(deviations.length)}**`],
        ['seconds from the last fault of a round until all work was done, median and longest', `${number(sorted[Math.floor(sorted.length / 2)] ?? 0)}, ${number(sorted.at(-1) ?? 0)}`], // prettier-ignore
      ],
    ),
    ...(deviations.length > 0 ? [deviations.slice(0, 50).map((text) => `- ${text}`).join('\n')] : []), // prettier-ignore
    notes,
  ].join('\n\n')}\n`;
}

function table(head: string[], lines: string[][]): string {
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
