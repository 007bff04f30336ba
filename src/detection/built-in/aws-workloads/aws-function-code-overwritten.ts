import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL } from '../cloudtrail-sql.ts';
import { cloudtrail, userArn } from '../samples.ts';

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
  name: 'Lambda code replaced by someone new',
  description: 'An identity replaced the code of a function that it had not touched in the last 30 days.',
  category: 'first_occurrence',
  systemPrompt: `You judge the first time that an identity replaces the code of a Lambda function. Deployments come from one pipeline role; a person or another role that does so may have planted code.
Benign: a new pipeline, an emergency fix that is known. Compare with who deployed it before.`,
  query,
  cadence: 'hourly',
  dataset: 'cloudtrail',
  entityField: 'principal',
  tags: ['aws', 'cloudtrail', 'execution', 'attack.t1648'],
  sample: {
    match: [
      cloudtrail('lambda:UpdateFunctionCode20150331v2', {
        user: 'ada',
        request: { functionName: 'arn:aws:lambda:eu-north-1:111122223333:function:pay' },
      }),
    ],
    noMatch: [
      cloudtrail('lambda:UpdateFunctionCode20150331v2', { error: 'AccessDenied', request: { functionName: 'pay' } }),
      cloudtrail('lambda:UpdateFunctionConfiguration20150331v2', { request: { functionName: 'pay' } }),
    ],
    entities: [userArn('ada')],
  },
};
