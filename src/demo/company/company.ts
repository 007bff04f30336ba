import { generateCloudCalls, generateProcessStarts, generateSignIns, generateWebRequests } from './habits.ts';
import { generateIntrusion } from './intrusion.ts';
import { type Day, dayMs, drawShift, hourMs, isWeekend, minuteMs, people, cast } from './people.ts';
import { createRandom, type Random } from './random.ts';
import {
  type AwsCaller,
  buildCloudtrailEvent,
  buildProcessEvent,
  buildProxyEvent,
  createStamp,
  type LogEvent,
  type SignIn,
  ACCOUNT,
  buildAuthEvent,
} from './shapes.ts';

/** Generates the events of one date. Each person has a separate random sequence, so that people do not affect each other. */
function* generateDay(day: Day): Generator<LogEvent> {
  yield* generateServiceEvents(day, createRandom(day.seed, day.midnight, 'services'));
  for (const person of people) {
    const random = createRandom(day.seed, day.midnight, person.user);
    const shift = drawShift(person, day, random);
    if (shift === undefined) continue;
    yield* generateSignIns(person, day, shift, random);
    yield* generateProcessStarts(person, shift, random);
    yield* generateWebRequests(person, shift, random);
    yield* generateCloudCalls(person, shift, random);
  }
}

/**
 * Generates the logs of a fictional company: `days` days up to `end` (exclusive), ordered by time, about 3,000 events per day in the datasets
 * `auth`, `process`, `proxy` and `cloudtrail`. Deterministic for `end`, `days` and `seed`. The intrusion is in the last 31 full hours.
 */
export function* generateCompanyLogs(options: { end: Date; days?: number; seed?: number }): Generator<LogEvent> {
  const { days = 14, seed = 1 } = options;
  const end = options.end.getTime();
  const start = end - days * dayMs;
  const hourZero = Math.floor(end / hourMs) * hourMs;
  let pending = [
    ...generateIntrusion(hourZero),
    ...generateHarmlessIncidents(hourZero, createRandom(seed, 'incidents')),
  ];
  for (let midnight = Math.floor(start / dayMs) * dayMs - dayMs; midnight < end + dayMs; midnight += dayMs) {
    for (const event of generateDay({ midnight, end, seed })) pending.push(event);
    pending = pending
      .filter(({ at }) => at.getTime() >= start && at.getTime() < end)
      .toSorted((a, b) => a.at.getTime() - b.at.getTime());
    // East of Greenwich the next date begins before midnight UTC, so events after noon may still be added.
    const complete = pending.findIndex(({ at }) => at.getTime() >= midnight + dayMs / 2);
    yield* pending.splice(0, complete === -1 ? pending.length : complete);
  }
}

const CLOUD_IP = '203.0.113.20';
const servers = ['FS-01', 'FS-02', 'DB-01', 'APP-01', 'APP-02', 'BK-01'].map((name) => `${name}.halden.example`);
const SERVICES = 'C:\\Windows\\System32\\services.exe';

const inventoried =
  'DescribeInstances DescribeVolumes DescribeSnapshots DescribeSecurityGroups DescribeSubnets DescribeVpcs DescribeImages DescribeAddresses DescribeKeyPairs DescribeRouteTables DescribeFlowLogs DescribeNetworkAcls DescribeNatGateways DescribeRegions DescribeTags DescribeVpcEndpoints DescribeInternetGateways DescribeLaunchTemplates DescribeNetworkInterfaces DescribeInstanceStatus'.split(
    ' ',
  );

/** The posture scanner: every hour the same sweep with more actions than any person uses. */
function* scanner(hour: number, random: Random): Generator<LogEvent> {
  const caller: AwsCaller = { role: 'cspm-scanner', session: 'sweep' };
  for (const [n, action] of inventoried.slice(0, random.int(18, 20)).entries()) {
    yield buildCloudtrailEvent(createStamp(random, hour + 7 * minuteMs + n * 900), {
      caller,
      service: 'ec2',
      action,
      ip: CLOUD_IP,
    });
  }
}

/** The deployment pipeline, which calls in bursts. */
function* deployment(at: number, random: Random): Generator<LogEvent> {
  const caller: AwsCaller = { role: 'ci-deploy', session: `run-${random.int(1000, 9999)}` };
  const base = { caller, ip: CLOUD_IP, userAgent: 'terraform/1.7.4' };
  for (let n = 0; n < 6; n += 1) {
    const call = { ...base, service: 'lambda', action: 'UpdateFunctionCode20150331v2' };
    const request = { functionName: `halden-${random.pick(['orders', 'invoices', 'sensors'])}` };
    yield buildCloudtrailEvent(createStamp(random, at + n * 4000), { ...call, request });
  }
  for (const n of [0, 1, 2, 3]) {
    const request = { secretId: `deploy/${n}` };
    yield buildCloudtrailEvent(createStamp(random, at + n * 900), {
      ...base,
      service: 'secretsmanager',
      action: 'GetSecretValue',
      request,
    });
  }
}

/** Nightly backups: cloud snapshots, shadow copies listed and resized on the servers, and large uploads to the vault. */
function* backups(night: number, random: Random): Generator<LogEvent> {
  const caller: AwsCaller = { role: 'backup', session: 'nightly' };
  for (let n = 0; n < 12; n += 1) {
    const request = { volumeId: `vol-0${n}ab34cd56ef78901` };
    const call = { caller, service: 'ec2', action: 'CreateSnapshot', ip: CLOUD_IP, request };
    yield buildCloudtrailEvent(createStamp(random, night + n * minuteMs), call);
  }
  const image = 'C:\\Windows\\System32\\vssadmin.exe';
  for (const host of servers) {
    const start = { host, user: 'svc-backup', image, parent: 'C:\\Program Files\\Backup\\agent.exe' };
    for (const args of ['list shadows', 'resize shadowstorage /for=C: /on=C: /maxsize=20%']) {
      yield buildProcessEvent(createStamp(random, night + 20 * minuteMs + random.int(0, 600) * 1000), {
        ...start,
        commandLine: `vssadmin.exe ${args}`,
      });
    }
  }
  const upload = { user: 'svc-backup', ip: '10.20.0.9', domain: 'vault.example.com', path: '/put', sent: 60_000_000 };
  for (let n = 0; n < 10; n += 1)
    yield buildProxyEvent(createStamp(random, night + 30 * minuteMs + n * 50_000), upload);
}

function* serverUpkeep(hour: number, random: Random): Generator<LogEvent> {
  for (const host of servers) {
    const commandLine = `svchost.exe -k netsvcs -p -s ${random.pick(['Schedule', 'wuauserv', 'Winmgmt', 'EventSystem'])}`;
    const start = { host, user: 'SYSTEM', image: 'C:\\Windows\\System32\\svchost.exe', commandLine, parent: SERVICES };
    yield buildProcessEvent(createStamp(random, hour + random.int(0, 59) * minuteMs), start);
  }
}

/** Generates the events of machines on a day in UTC. */
function* generateServiceEvents(day: Day, random: Random): Generator<LogEvent> {
  for (let hour = day.midnight; hour < day.midnight + dayMs; hour += hourMs) {
    yield* scanner(hour, random);
    yield* serverUpkeep(hour, random);
    const working = !isWeekend(day) && hour >= day.midnight + 8 * hourMs && hour < day.midnight + 17 * hourMs;
    for (let n = working ? random.int(0, 5) : 0; n > 0; n -= 1) {
      yield* deployment(hour + random.int(0, 58) * minuteMs, random);
    }
  }
  yield* backups(day.midnight + hourMs, random);
}

const hotel = { JP: '203.0.113.140', SE: '203.0.113.141', DE: '203.0.113.142' } as const;

/** A sign-in from a managed laptop on a trip. */
const away = (person: SignIn['person'], country: keyof typeof hotel): SignIn => ({
  person,
  ip: hotel[country],
  country,
});

function* travel(hourZero: number, random: Random): Generator<LogEvent> {
  // A first trip to a country: a harmless first occurrence.
  for (const hoursAgo of [20, 8])
    yield buildAuthEvent(createStamp(random, hourZero - hoursAgo * hourMs), away(cast.traveller, 'JP'));
  // Regular trips to Sweden, which are known when the detections start.
  for (const daysAgo of [13, 9, 6, 4, 1]) {
    yield buildAuthEvent(
      createStamp(random, hourZero - daysAgo * dayMs + 3 * hourMs),
      away(cast.commuter, daysAgo === 9 ? 'DE' : 'SE'),
    );
  }
}

/** A newcomer's first day: an unmanaged device, a wrong password, a second factor, and two days later an access key. */
function* newcomer(hourZero: number, random: Random): Generator<LogEvent> {
  const person = cast.newcomer;
  const start = hourZero - (person.joinedDaysAgo - 1) * dayMs;
  const base = { person, ip: person.site.officeIp, country: person.site.country, managed: false };
  yield buildAuthEvent(createStamp(random, start), { ...base, outcome: 'failure', reason: 'invalid_credentials' });
  yield buildAuthEvent(createStamp(random, start + minuteMs), base);
  yield buildAuthEvent(createStamp(random, start + 5 * minuteMs), { ...base, action: 'user.mfa.factor.activate' });
  const caller = { user: cast.admin.user };
  const iam = { caller, service: 'iam', ip: cast.admin.site.officeIp };
  yield buildCloudtrailEvent(createStamp(random, start + hourMs), {
    ...iam,
    action: 'CreateUser',
    request: { userName: person.user },
  });
  const own = { caller: { user: person.user }, service: 'iam', ip: person.site.officeIp };
  yield buildCloudtrailEvent(createStamp(random, start + 2 * dayMs), { ...own, action: 'CreateAccessKey' });
}

/** A lost phone: a failed attempt and a new second factor, from the office and a managed device. */
function* newPhone(hourZero: number, random: Random): Generator<LogEvent> {
  const person = cast.newPhone;
  const base = { person, ip: person.site.officeIp, country: person.site.country };
  yield buildAuthEvent(createStamp(random, hourZero - 15 * hourMs), {
    ...base,
    outcome: 'failure',
    reason: 'mfa_timeout',
    action: 'user.authentication.mfa',
  });
  yield buildAuthEvent(createStamp(random, hourZero - 15 * hourMs + 9 * minuteMs), {
    ...base,
    action: 'user.mfa.factor.activate',
  });
}

/** An administrator's usual work, which once grants all rights to the emergency role. */
function* administration(hourZero: number, random: Random): Generator<LogEvent> {
  const iam = { caller: { user: cast.admin.user }, service: 'iam', ip: cast.admin.site.officeIp };
  const policy = (name: string) => `arn:aws:iam::aws:policy/${name}`;
  for (const daysAgo of [12, 9, 7, 5, 3, 1]) {
    const request = { roleName: `halden-app-${daysAgo}`, policyArn: policy('AmazonS3ReadOnlyAccess') };
    yield buildCloudtrailEvent(createStamp(random, hourZero - daysAgo * dayMs), {
      ...iam,
      action: 'AttachRolePolicy',
      request,
    });
  }
  const request = { roleName: 'break-glass', policyArn: policy('AdministratorAccess') };
  yield buildCloudtrailEvent(createStamp(random, hourZero - 14 * hourMs), {
    ...iam,
    action: 'AttachRolePolicy',
    request,
  });
  const trail = { trailName: 'org-trail', eventSelectors: [{ readWriteType: 'All', includeManagementEvents: true }] };
  const cloudtrail = { ...iam, service: 'cloudtrail', action: 'PutEventSelectors' };
  yield buildCloudtrailEvent(createStamp(random, hourZero - 13 * hourMs), { ...cloudtrail, request: trail });
  const share = {
    snapshotId: 'snap-0ab34cd56ef789012',
    createVolumePermission: { add: { items: [{ userId: ACCOUNT }] } },
  };
  yield buildCloudtrailEvent(createStamp(random, hourZero - 12 * hourMs), {
    ...iam,
    service: 'ec2',
    action: 'ModifySnapshotAttribute',
    request: share,
  });
}

/** Large video uploads to the usual destination. */
function* uploads(hourZero: number, random: Random): Generator<LogEvent> {
  const { user, site } = cast.uploader;
  for (const hoursAgo of [270, 170, 120, 70, 18]) {
    const request = { user, ip: site.officeIp, domain: 'video.example.org', path: '/upload', sent: 180_000_000 };
    yield buildProxyEvent(createStamp(random, hourZero - hoursAgo * hourMs + 10 * minuteMs), request);
  }
}

/** Generates rare events that look malicious but are harmless. `hourZero` is the last full hour of the logs (epoch milliseconds). */
function* generateHarmlessIncidents(hourZero: number, random: Random): Generator<LogEvent> {
  yield* travel(hourZero, random);
  yield* newcomer(hourZero, random);
  yield* newPhone(hourZero, random);
  yield* administration(hourZero, random);
  yield* uploads(hourZero, random);
  // The victim signs in at home shortly before the intrusion, on weekends too: nobody reaches the intruder's country so soon.
  const { site, ...person } = cast.victim;
  const atHome = { person, ip: site.officeIp, country: site.country };
  yield buildAuthEvent(createStamp(random, hourZero - 31 * hourMs + 10 * minuteMs), atHome);
}
