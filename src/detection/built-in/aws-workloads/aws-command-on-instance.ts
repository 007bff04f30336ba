import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, userArn } from '../samples.ts';

const query = `
SELECT ${PRINCIPAL} AS principal, eventName AS action,
       coalesce(_event->>'$.requestParameters.documentName', 'a session') AS document,
       _id, _time, 'T1651' AS technique
FROM cloudtrail
WHERE eventSource = 'ssm.amazonaws.com' AND ${PRINCIPAL} IS NOT NULL
  AND (eventName = 'StartSession'
       OR (eventName = 'SendCommand'
           AND regexp_matches(_event->>'$.requestParameters.documentName', '^AWS-Run(ShellScript|PowerShellScript|RemoteScript)$')))
`;

export const awsCommandOnInstance: BuiltInDetection = {
  id: 'aws-command-on-instance',
  name: 'First command run on instances through Systems Manager',
  description:
    'An identity ran a script on instances or opened a session through Systems Manager for the first time in 30 days.',
  category: 'first_occurrence',
  systemPrompt: `You judge the first time an identity runs scripts on instances through Systems Manager. This needs no network path to the host and no key of the host.
Benign: a new member of the operations team, or patching. The log does not show the script itself, so recommend checking the command history on the instance.`,
  headline: '{{principal}} ran {{document}} on instances for the first time',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'execution', 'attack.t1651'],
  sample: {
    match: [
      callAs('ada', 'ssm:SendCommand', { documentName: 'AWS-RunShellScript', instanceIds: ['i-1'] }),
      cloudtrail('ssm:StartSession', { user: 'ben', request: { target: 'i-1' } }),
    ],
    noMatch: [cloudtrail('ssm:SendCommand', { user: 'cyn', request: { documentName: 'AWS-RunPatchBaseline' } })],
    entities: ['ada', 'ben'].map(userArn),
  },
};
