import { valueOf, type PromptCase } from './case-prompt.ts';
import {
  cite,
  countBy,
  dayHours,
  fact,
  laterBy,
  quote,
  readCount,
  searchLogs,
  timeOf,
  type Playbook,
} from './questions.ts';
import { sayField } from './sentences.ts';

const fewHours = 3;
const fewNights = 4;
const growth = 1.35;

/** Traffic of a host in single hours: how often, at which hours, and whether there were such hours before. */
export function trafficBook(found: PromptCase): Playbook {
  const host = found.entity;
  const amounts = found.rows.map(({ fields }) => Number(fields['bytes_out']));
  const least = Math.round(Math.min(...amounts) * 0.6);
  const last = found.rows.at(-1)?.time;
  return {
    questions: [
      {
        ask: 'At which hours did the host send as much, in two weeks?',
        call: searchLogs(
          `SELECT _id, _time, host, bytes_out FROM net WHERE host = ${quote(host)} AND bytes_out >= ${least} AND (hour(_time) < 5 OR hour(_time) >= 20 OR isodow(_time) >= 6) ORDER BY _time`,
          14 * dayHours,
          laterBy(last, 1),
        ),
        incriminates: ({ observation, rows }, { rows: own }) => {
          const first = timeOf(own[0]!) - dayHours * 3_600_000;
          const before = rows.filter((row) => timeOf(row) < first);
          const isLong = own.length >= fewHours && before.length === 0;
          const isNightly = new Set(rows.map(({ time }) => time?.slice(0, 10))).size >= fewNights;
          const [row] = rows.slice(-1);
          if (!row || !(isLong || isNightly)) return [];
          return [
            fact(
              sayField('bytes_out', row.fields['bytes_out']!),
              cite(observation, row, 'bytes_out', row.fields['bytes_out']!),
            ),
          ];
        },
      },
      {
        ask: 'Which events does the host have?',
        call: countBy('net', 'host', { host }, { hours: 14 * dayHours }),
        incriminates: () => [],
      },
    ],
    finding: [],
    recursOften: true,
    open: `Which job or transfer made ${host} send this?`,
  };
}

/** Traffic of a host over a day, compared with its own earlier days. */
export function dailyBook(found: PromptCase): Playbook {
  const host = found.entity;
  const day = (days: number): string => laterBy(String(found.facts['windowTo'] ?? ''), -days * dayHours);
  return {
    questions: [
      {
        ask: 'How much did the host send on earlier days?',
        call: searchLogs(
          `SELECT CAST(_time AS DATE) AS day, sum(bytes_out) AS bytes FROM net WHERE host = ${quote(host)} GROUP BY day ORDER BY day`,
          21 * dayHours,
          day(0),
        ),
        incriminates: ({ observation, rows }) => {
          const working = rows.map(({ fields }) => Number(fields['bytes'])).filter((bytes) => bytes > 1e9);
          const recent = working.slice(-3);
          const usual = working.slice(0, -8).toSorted((a, b) => a - b);
          const median = usual[Math.floor(usual.length / 2)] ?? Infinity;
          const row = rows.findLast(({ fields }) => Number(fields['bytes']) > 1e9);
          if (!row || recent.length < 3 || recent.some((bytes) => bytes < growth * median)) return [];
          return [fact(sayField('bytes', row.fields['bytes']!), cite(observation, row, 'bytes', row.fields['bytes']!))];
        },
      },
    ],
    finding: [],
    recursOften: true,
    open: `Why did ${host} send more than usual?`,
  };
}

const fewHosts = 2;

/** Requests of a host: who else asks the domain. */
export function webBook(found: PromptCase): Playbook {
  const domain = valueOf(found, 'domain') ?? '';
  return {
    questions: [
      {
        ask: 'Which other hosts ask this domain?',
        call: countBy('proxy', 'host', { domain }, { hours: 10 * dayHours }),
        incriminates: (result) => {
          const own = readCount(result, 'host', found.entity);
          return own && result.rows.length <= fewHosts ? [own.claim] : [];
        },
      },
    ],
    finding: [],
    recursOften: true,
    open: `What does ${found.entity} fetch from ${domain}?`,
  };
}
