import { valueOf, type PromptCase, type Result } from './case-prompt.ts';
import { dailyBook, trafficBook, webBook } from './network-playbooks.ts';
import {
  cite,
  countBy,
  dayHours,
  fact,
  laterBy,
  monthHours,
  quote,
  readCount,
  searchLogs,
  timeOf,
  type Playbook,
  type Question,
  type ScriptedClaim,
} from './questions.ts';
import { sayField, sayTwoPlaces } from './sentences.ts';

const failuresMin = 8;
const travelMinutes = 90;

/** A sign-in, successful or not: who else uses the address, how often it failed, and where the user is otherwise. */
function signInBook(found: PromptCase): Playbook {
  const address = valueOf(found, 'src_ip') ?? '';
  const user = valueOf(found, 'user') ?? '';
  const last = found.rows.at(-1)?.time;
  const failed: Question = {
    ask: 'How often did sign-ins from this address fail?',
    call: countBy('auth', 'outcome', { src_ip: address }),
    incriminates: (result) => {
      const failures = readCount(result, 'outcome', 'failure');
      const successes = readCount(result, 'outcome', 'success')?.count ?? 0;
      // Somebody who mistypes a password signs in again and again from the same address.
      return failures && failures.count >= failuresMin && successes * 5 <= failures.count ? [failures.claim] : [];
    },
  };
  const others: Question = {
    ask: 'Who else used this address?',
    call: countBy('auth', 'user', { src_ip: address }),
    incriminates: () => [],
  };
  const countries: Question = {
    ask: 'From which countries does the user sign in, before and after?',
    call: searchLogs(
      `SELECT country, count(*) AS events, min(_time) AS first, max(_time) AS last FROM auth WHERE "user" = ${quote(user)} AND outcome = 'success' GROUP BY country`,
      monthHours,
      laterBy(last, 3 * dayHours),
    ),
    incriminates: () => [],
  };
  const places: Question = {
    ask: 'Where else was the user at that time?',
    call: searchLogs(
      `SELECT _id, _time, "user", src_ip, country FROM auth WHERE "user" = ${quote(user)} AND outcome = 'success' ORDER BY _time`,
      dayHours,
      laterBy(last, dayHours / 2),
    ),
    incriminates: (result, { results }) => (isIsolated(results) ? findTwoPlaces(result, user) : []),
  };
  const open = 'Does a booking, a note or the user confirm where the user was?';
  return {
    questions: found.entity === user ? [others, failed, countries, places] : [others, failed],
    finding: [],
    recursOften: found.entity === user && valueOf(found, 'outcome') === 'failure',
    open,
  };
}

const usualMin = 10;

/** Returns whether a user was in an unusual country for one sign-in alone. Somebody who travels signs in there again. */
function isIsolated(results: PromptCase['results']): boolean {
  const rows = results.find((result) => result?.columns.some(({ name }) => name === 'first'))?.rows ?? [];
  const rare = rows.map(({ fields }) => Number(fields['events'])).filter((events) => events < usualMin);
  return rare.reduce((sum, events) => sum + events, 0) === 1;
}

/** Two sign-ins from different countries within less time than a flight takes. */
function findTwoPlaces({ observation, rows }: Result, user: string): ScriptedClaim[] {
  for (const [index, row] of rows.entries()) {
    const next = rows[index + 1];
    const [from, to] = [row.fields['country'], next?.fields['country']];
    if (!next || from === undefined || to === undefined || from === to) continue;
    if (Math.abs(timeOf(next) - timeOf(row)) > travelMinutes * 60_000) continue;
    const cites = [cite(observation, row, 'country', from), cite(observation, next, 'country', to)];
    return [fact(sayTwoPlaces(user, from, to), ...cites, cite(observation, next, 'user', user))];
  }
  return [];
}

/** Calls that give access or end logging. Somebody who never made one has no reason to begin. */
const grantsAccess =
  /^(?:Create(?:User|LoginProfile|AccessKey)|Attach\w*Policy|Put\w*RolePolicy|StopLogging|DeleteTrail)$/;

function apiBook(found: PromptCase): Playbook {
  const role = found.entity;
  const actions = found.rows.flatMap(({ fields }) => fields['eventName'] ?? []);
  const action = actions.find((one) => grantsAccess.test(one)) ?? actions[0] ?? '';
  const own = found.rows.filter(({ fields }) => fields['eventName'] === action).length;
  return {
    questions: [
      {
        ask: 'Did the role make this call before?',
        call: countBy('api', 'eventName', { role }),
        incriminates: (result) => {
          const before = readCount(result, 'eventName', action);
          return before && before.count <= own && grantsAccess.test(action) ? [before.claim] : [];
        },
      },
      {
        ask: 'Which other roles make this call?',
        call: countBy('api', 'role', { eventName: action }),
        incriminates: () => [],
      },
    ],
    finding: [],
    recursOften: true,
    open: `Is there a change that lets ${role} call ${action}?`,
  };
}

/** The identifying fields of an event of a detection that the analyst has no playbook for, most telling first. */
const telling = [
  'technique',
  'event.action',
  'action',
  'command_line',
  'process',
  'eventName',
  'url.domain',
  'source.ip',
  'source_ip',
];

/** Where a shared address or domain is counted, by the field that has it. */
const shared: Record<string, { dataset: string; by: string; where: Record<string, string> }> = {
  'url.domain': { dataset: 'proxy', by: 'user.name', where: {} },
  'source.ip': { dataset: 'auth', by: 'user.name', where: { 'event.outcome': 'success' } },
};
const weekHours = 7 * dayHours;

/** A case of a shipped detection. Its rows are the finding: what they say stands unless a record or the values of others explain it. */
function findingBook(found: PromptCase): Playbook {
  const [row] = found.rows;
  const field = telling.find((name) => row?.fields[name] !== undefined) ?? Object.keys(row?.fields ?? {})[0] ?? '';
  const value = (row?.fields[field] ?? '').slice(0, 300).trim();
  const finding = row && value !== '' ? [fact(sayField(field, value), cite('rows', row, field, value))] : [];
  const weekBefore = laterBy(String(found.facts['windowFrom'] ?? ''), -weekHours);
  const whoElse = Object.entries(shared).flatMap(([name, { dataset, by, where }]): Question[] => {
    const one = row?.fields[name];
    if (one === undefined) return [];
    const call = countBy(dataset, by, { [name]: one, ...where }, { until: weekBefore });
    return [{ ask: `Who else had this ${name} a week ago?`, call, incriminates: () => [] }];
  });
  const related: Question = {
    ask: 'Do other hits share a value with this case?',
    call: { name: 'related_hits', input: {} },
    incriminates: () => [],
  };
  return {
    questions: [...whoElse.slice(0, 1), related],
    finding,
    recursOften: false,
    open: `Who did this as ${found.entity}, and was it planned?`,
  };
}

/** Returns what to ask, by what the rows say. Every case is also looked up in the organization's records. */
export function choosePlaybook(found: PromptCase): Playbook {
  const has = (field: string): boolean => valueOf(found, field) !== undefined;
  if (has('eventName') && has('role')) return apiBook(found);
  if (has('src_ip') && has('outcome')) return signInBook(found);
  if (has('domain') && has('host')) return webBook(found);
  if (has('host') && has('bytes_out')) return trafficBook(found);
  return has('host') && has('bytes') ? dailyBook(found) : findingBook(found);
}
