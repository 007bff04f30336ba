import type { Shift } from './calendar.ts';
import { drawMoments } from './calendar.ts';
import { buildCloudtrailEvent } from './cloudtrail-shape.ts';
import type { Person } from './people.ts';
import { cast } from './people.ts';
import type { Random } from './random.ts';
import type { LogEvent } from './shapes.ts';
import { createStamp } from './shapes.ts';

type Api = readonly [service: string, action: string];

const everyday: Api[] = [
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
    const favourites = random.some(everyday, random.int(2, 6));
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
