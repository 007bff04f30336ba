import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL}, eventSource AS service,
         coalesce(_event->>'$.requestParameters.DeleteFlowLogsRequest.FlowLogId.content',
                  _event->>'$.requestParameters.logGroupName', _event->>'$.requestParameters.detectorId',
                  _event->>'$.requestParameters.configurationRecorderName',
                  _event->>'$.requestParameters.deliveryChannelName',
                  _event->>'$.requestParameters.resolverQueryLogConfigId') AS target,
         (_event->>'$.requestParameters.enable') AS enabled
  FROM cloudtrail
  WHERE eventName IN ('DeleteFlowLogs', 'DeleteResolverQueryLogConfig', 'DisassociateResolverQueryLogConfig',
                      'DeleteDetector', 'UpdateDetector', 'StopConfigurationRecorder', 'DeleteConfigurationRecorder',
                      'DeleteDeliveryChannel', 'DisableSecurityHub', 'DeleteLogGroup', 'DeleteLogStream')
)
SELECT principal, action, service, target, source_ip, error, _id, _time,
       'T1562.008' AS technique,
       CASE WHEN error IS NULL AND action NOT IN ('DeleteLogGroup', 'DeleteLogStream') THEN 'high'
            ELSE 'medium' END AS severity
FROM calls
WHERE principal IS NOT NULL AND (action <> 'UpdateDetector' OR enabled = 'false')
`;

export const awsMonitoringRemoved: BuiltInDetection = {
  id: 'aws-monitoring-removed',
  name: 'Network logs or security monitoring removed',
  description:
    'VPC flow logs, resolver query logs, GuardDuty, Config, Security Hub or a log group were removed or disabled.',
  category: 'custom',
  systemPrompt: `You judge calls that remove a source of evidence other than CloudTrail: flow logs, resolver logs, GuardDuty, Config, Security Hub, log groups.
Benign: a retired workload whose log group is deleted with its other resources. Suspicious: only the logging is removed, or the caller has never done this before.
State which source stopped recording, and since when.`,
  headline: 'Monitoring {{target}} removed with {{action}} by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'defense-evasion', 'attack.t1562.008'],
  sample: {
    match: [
      callAs('ada', 'ec2:DeleteFlowLogs', { DeleteFlowLogsRequest: { FlowLogId: { tag: 1, content: 'fl-1' } } }),
      cloudtrail('guardduty:UpdateDetector', { user: 'ben', request: { detectorId: 'd-1', enable: false } }),
    ],
    noMatch: [
      cloudtrail('guardduty:UpdateDetector', { request: { detectorId: 'd-1', enable: true } }),
      cloudtrail('ec2:CreateFlowLogs'),
    ],
    entities: ['ada', 'ben'].map(userArn),
  },
};
