import { dayMs, hourMs, minuteMs, cast } from './people.ts';
import {
  buildCloudtrailEvent,
  type LogEvent,
  type SignIn,
  ACCOUNT,
  buildAuthEvent,
  buildProxyEvent,
  createStamp,
} from './shapes.ts';
import type { Random } from './random.ts';

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
export function* generateHarmlessIncidents(hourZero: number, random: Random): Generator<LogEvent> {
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
