import { type Day, type Shift, hourMs, isMonday, minuteMs, drawMoments, type Person, cast } from './people.ts';
import type { Random } from './random.ts';
import {
  buildAuthEvent,
  drawLocation,
  createStamp,
  type LogEvent,
  buildCloudtrailEvent,
  type ProcessStart,
  buildProcessEvent,
  buildProxyEvent,
} from './shapes.ts';

const apps = ['Mail', 'Chat', 'Wiki', 'Payroll', 'CRM', 'Source', 'Tickets', 'Drive'];

/** Expired passwords: on Monday, many people fail to sign in, then reset their password. */
function* mondayReset(
  person: Person,
  at: number,
  place: ReturnType<typeof drawLocation>,
  random: Random,
): Generator<LogEvent> {
  for (let n = random.int(1, 3); n > 0; n -= 1) {
    const failed = { person, outcome: 'failure', reason: 'password_expired', ...place } as const;
    yield buildAuthEvent(createStamp(random, at - n * minuteMs), failed);
  }
  yield buildAuthEvent(createStamp(random, at - minuteMs / 2), {
    person,
    action: 'user.account.reset_password',
    ...place,
  });
}

function* session(person: Person, at: number, random: Random): Generator<LogEvent> {
  const place = drawLocation(person, random);
  const managed = !random.chance(0.05);
  const typo = random.chance(0.07);
  if (typo) {
    const failed = { person, outcome: 'failure', reason: 'invalid_credentials', managed, ...place } as const;
    yield buildAuthEvent(createStamp(random, at - 20_000), failed);
  }
  yield buildAuthEvent(createStamp(random, at), { person, managed, ...place });
  yield buildAuthEvent(createStamp(random, at + 8000), {
    person,
    action: 'user.authentication.mfa',
    managed,
    ...place,
  });
}

/** Generates a day's sign-ins: in the morning, often after lunch, and to a few applications. */
export function* generateSignIns(person: Person, day: Day, shift: Shift, random: Random): Generator<LogEvent> {
  if (isMonday(day) && random.chance(0.3)) yield* mondayReset(person, shift.from, drawLocation(person, random), random);
  yield* session(person, shift.from, random);
  if (random.chance(0.4)) yield* session(person, shift.from + (4 + random.next()) * hourMs, random);
  for (const at of drawMoments(shift, random.int(1, 4), random)) {
    const app = random.pick(apps);
    const place = drawLocation(person, random);
    yield buildAuthEvent(createStamp(random, at), { person, action: 'user.authentication.sso', app, ...place });
  }
}

type Api = readonly [service: string, action: string];

const everydayCalls: Api[] = [
  ['lambda', 'ListFunctions20150331'],
  ['lambda', 'GetFunction20150331v2'],
  ['logs', 'DescribeLogGroups'],
  ['logs', 'DescribeLogStreams'],
  ['s3', 'ListBuckets'],
  ['s3', 'GetBucketLocation'],
  ['cloudformation', 'DescribeStacks'],
  ['cloudwatch', 'DescribeAlarms'],
  ['ec2', 'DescribeInstances'],
  ['dynamodb', 'ListTables'],
  ['sts', 'GetCallerIdentity'],
];
const changes: Api[] = [
  ['lambda', 'UpdateFunctionConfiguration20150331v2'],
  ['cloudformation', 'UpdateStack'],
  ['logs', 'PutRetentionPolicy'],
];

/** Generates the AWS calls of engineers: short bursts of a few actions, most of them read-only. */
export function* generateCloudCalls(person: Person, shift: Shift, random: Random): Generator<LogEvent> {
  if (!person.cloud || (person.user !== cast.victim.user && random.chance(0.4))) return;
  const caller = { user: person.user };
  const ip = random.chance(0.7) ? person.site.officeIp : person.homeIp;
  for (const start of drawMoments(shift, random.int(1, 3), random)) {
    const favourites = random.some(everydayCalls, random.int(2, 6));
    for (let n = random.int(3, 9); n > 0; n -= 1) {
      const [service, action] = random.chance(0.1) ? random.pick(changes) : random.pick(favourites);
      yield buildCloudtrailEvent(createStamp(random, start + n * 11_000), { caller, service, action, ip });
    }
  }
  if (person !== cast.victim && random.chance(0.03)) {
    const [at = shift.from] = drawMoments(shift, 1, random);
    yield buildCloudtrailEvent(createStamp(random, at), { caller, service: 'iam', action: 'CreateAccessKey', ip });
  }
}

type Program = Pick<ProcessStart, 'image' | 'commandLine' | 'parent'>;

const EXPLORER = 'C:\\Windows\\explorer.exe';
const FILES = 'C:\\Program Files';

const program = (image: string, args = '', parent = EXPLORER): Program => ({
  image,
  commandLine: `"${image}"${args}`,
  parent,
});

const everydayPrograms: Program[] = [
  program(`${FILES}\\Mail\\mail.exe`),
  program(`${FILES}\\Browser\\browser.exe`, ' --profile-directory=Default'),
  program(`${FILES}\\Chat\\chat.exe`, ' --background'),
  program(`${FILES}\\Office\\sheet.exe`, ' /n "Q3 forecast.xlsx"'),
  program(`${FILES}\\Office\\writer.exe`, ' /n "offer.docx"'),
  program('C:\\Windows\\System32\\notepad.exe'),
  program('C:\\Windows\\System32\\SnippingTool.exe'),
];

const technical: Program[] = [
  program('C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe', ' -NoLogo'),
  program(`${FILES}\\Git\\cmd\\git.exe`, ' fetch --all', `${FILES}\\Editor\\editor.exe`),
  program(`${FILES}\\nodejs\\node.exe`, ' build.js', 'C:\\Windows\\System32\\cmd.exe'),
  program('C:\\Windows\\System32\\cmd.exe', ' /c whoami', `${FILES}\\Editor\\editor.exe`),
  program(`${FILES}\\Editor\\editor.exe`, ' .'),
];

/** Generates the process starts on a person's machine over a working day. */
export function* generateProcessStarts(person: Person, shift: Shift, random: Random): Generator<LogEvent> {
  const programs = person.cloud ? [...everydayPrograms, ...technical] : everydayPrograms;
  for (const at of drawMoments(shift, random.int(4, 9), random)) {
    yield buildProcessEvent(createStamp(random, at), {
      host: person.host,
      user: person.user,
      ...random.pick(programs),
    });
  }
}

const sites = [
  'news.example.com',
  'docs.example.com',
  'search.example.com',
  'weather.example.net',
  'maps.example.net',
  'packages.example.org',
  'questions.example.org',
  'meetings.example.com',
  'travel.example.net',
];

/** Generates a working day of browsing, sometimes with an upload of some megabytes. */
export function* generateWebRequests(person: Person, shift: Shift, random: Random): Generator<LogEvent> {
  const { user } = person;
  for (const at of drawMoments(shift, random.int(5, 12), random)) {
    const request = {
      user,
      ip: drawLocation(person, random).ip,
      domain: random.pick(sites),
      received: random.int(900, 400_000),
    };
    yield buildProxyEvent(createStamp(random, at), request);
  }
  if (random.chance(0.15)) {
    const [at = shift.from] = drawMoments(shift, 1, random);
    const sent = random.int(1, 30) * 1_000_000;
    yield buildProxyEvent(createStamp(random, at), {
      user,
      ip: person.site.officeIp,
      domain: 'share.example.com',
      path: '/upload',
      sent,
    });
  }
}
