import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, userArn } from '../samples.ts';

const query = `
SELECT ${PRINCIPAL} AS principal,
       regexp_extract(_event->>'$.requestParameters.functionName', '([^:]+)$', 1) AS function_name,
       _id, _time, 'T1648' AS technique
FROM cloudtrail
WHERE eventSource = 'lambda.amazonaws.com' AND starts_with(eventName, 'UpdateFunctionCode')
  AND (_event->>'$.errorCode') IS NULL AND ${PRINCIPAL} IS NOT NULL
`;

export const awsFunctionCodeOverwritten: BuiltInDetection = {
  id: 'aws-function-code-overwritten',
  name: 'Lambda code replaced by a new identity',
  description: 'An identity replaced the code of a function that it had not changed in the last 30 days.',
  category: 'first_occurrence',
  systemPrompt: `You judge the first time an identity replaces the code of a Lambda function. Deployments normally come from one pipeline role. A person or another role may have planted code.
Benign: a new pipeline, or a known emergency fix. Compare with the identities that deployed the function before.`,
  headline: 'Code of the function {{function_name}} replaced by {{principal}} for the first time',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'execution', 'attack.t1648'],
  sample: {
    match: [
      callAs('ada', 'lambda:UpdateFunctionCode20150331v2', {
        functionName: 'arn:aws:lambda:eu-north-1:111122223333:function:pay',
      }),
    ],
    noMatch: [
      cloudtrail('lambda:UpdateFunctionCode20150331v2', { error: 'AccessDenied', request: { functionName: 'pay' } }),
      cloudtrail('lambda:UpdateFunctionConfiguration20150331v2', { request: { functionName: 'pay' } }),
    ],
    entities: [userArn('ada')],
  },
};
