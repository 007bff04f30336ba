import type { Day } from './calendar.ts';
import { DAY, HOUR, isWeekend, MINUTE } from './calendar.ts';
import type { Caller } from './cloudtrail-shape.ts';
import { cloudtrailEvent } from './cloudtrail-shape.ts';
import type { Random } from './random.ts';
import type { LogEvent } from './shapes.ts';
import { processEvent, proxyEvent, stamp } from './shapes.ts';

const CLOUD_IP = '203.0.113.20';
const servers = ['FS-01', 'FS-02', 'DB-01', 'APP-01', 'APP-02', 'BK-01'].map((name) => `${name}.halden.example`);
const SERVICES = 'C:\\Windows\\System32\\services.exe';

const inventoried =
  'DescribeInstances DescribeVolumes DescribeSnapshots DescribeSecurityGroups DescribeSubnets DescribeVpcs DescribeImages DescribeAddresses DescribeKeyPairs DescribeRouteTables DescribeFlowLogs DescribeNetworkAcls DescribeNatGateways DescribeRegions DescribeTags DescribeVpcEndpoints DescribeInternetGateways DescribeLaunchTemplates DescribeNetworkInterfaces DescribeInstanceStatus'.split(
    ' ',
  );

/** The posture scanner: the same broad sweep every hour, more kinds of calls than any person makes. */
function* scanner(hour: number, random: Random): Generator<LogEvent> {
  const caller: Caller = { role: 'cspm-scanner', session: 'sweep' };
  for (const [n, action] of inventoried.slice(0, random.int(18, 20)).entries()) {
    yield cloudtrailEvent(stamp(random, hour + 7 * MINUTE + n * 900), { caller, service: 'ec2', action, ip: CLOUD_IP });
  }
}

/** The deployment pipeline works in bursts: nothing for hours, then many calls at once. */
function* deployment(at: number, random: Random): Generator<LogEvent> {
  const caller: Caller = { role: 'ci-deploy', session: `run-${random.int(1000, 9999)}` };
  const base = { caller, ip: CLOUD_IP, userAgent: 'terraform/1.7.4' };
  for (let n = 0; n < 6; n += 1) {
    const call = { ...base, service: 'lambda', action: 'UpdateFunctionCode20150331v2' };
    const request = { functionName: `halden-${random.pick(['orders', 'invoices', 'sensors'])}` };
    yield cloudtrailEvent(stamp(random, at + n * 4000), { ...call, request });
  }
  for (const n of [0, 1, 2, 3]) {
    const request = { secretId: `deploy/${n}` };
    yield cloudtrailEvent(stamp(random, at + n * 900), {
      ...base,
      service: 'secretsmanager',
      action: 'GetSecretValue',
      request,
    });
  }
}

/** Backups at night: snapshots in the cloud, shadow copies listed and resized on the servers, a large upload to the vault. */
function* backups(night: number, random: Random): Generator<LogEvent> {
  const caller: Caller = { role: 'backup', session: 'nightly' };
  for (let n = 0; n < 12; n += 1) {
    const request = { volumeId: `vol-0${n}ab34cd56ef78901` };
    const call = { caller, service: 'ec2', action: 'CreateSnapshot', ip: CLOUD_IP, request };
    yield cloudtrailEvent(stamp(random, night + n * MINUTE), call);
  }
  const image = 'C:\\Windows\\System32\\vssadmin.exe';
  for (const host of servers) {
    const start = { host, user: 'svc-backup', image, parent: 'C:\\Program Files\\Backup\\agent.exe' };
    for (const args of ['list shadows', 'resize shadowstorage /for=C: /on=C: /maxsize=20%']) {
      yield processEvent(stamp(random, night + 20 * MINUTE + random.int(0, 600) * 1000), {
        ...start,
        commandLine: `vssadmin.exe ${args}`,
      });
    }
  }
  const upload = { user: 'svc-backup', ip: '10.20.0.9', domain: 'vault.example.com', path: '/put', sent: 60_000_000 };
  for (let n = 0; n < 10; n += 1) yield proxyEvent(stamp(random, night + 30 * MINUTE + n * 50_000), upload);
}

function* serverUpkeep(hour: number, random: Random): Generator<LogEvent> {
  for (const host of servers) {
    const commandLine = `svchost.exe -k netsvcs -p -s ${random.pick(['Schedule', 'wuauserv', 'Winmgmt', 'EventSystem'])}`;
    const start = { host, user: 'SYSTEM', image: 'C:\\Windows\\System32\\svchost.exe', commandLine, parent: SERVICES };
    yield processEvent(stamp(random, hour + random.int(0, 59) * MINUTE), start);
  }
}

/** What machines do on a day, in UTC. */
export function* serviceHabits(day: Day, random: Random): Generator<LogEvent> {
  for (let hour = day.midnight; hour < day.midnight + DAY; hour += HOUR) {
    yield* scanner(hour, random);
    yield* serverUpkeep(hour, random);
    const working = !isWeekend(day) && hour >= day.midnight + 8 * HOUR && hour < day.midnight + 17 * HOUR;
    for (let n = working ? random.int(0, 5) : 0; n > 0; n -= 1) {
      yield* deployment(hour + random.int(0, 58) * MINUTE, random);
    }
  }
  yield* backups(day.midnight + HOUR, random);
}
