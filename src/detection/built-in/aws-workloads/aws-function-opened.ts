import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, OUTSIDE_ACCOUNT, userArn } from '../samples.ts';

// The event name contains the API version: AddPermission20150331v2.
const query = `
WITH calls AS (
  SELECT ${CALL},
         (_event->>'$.requestParameters.functionName') AS function_name,
         (_event->>'$.requestParameters.principal') AS opened_to
  FROM cloudtrail
  WHERE eventSource = 'lambda.amazonaws.com' AND starts_with(eventName, 'AddPermission')
)
SELECT principal, action, function_name, opened_to, source_ip, error, _id, _time,
       'T1546' AS technique,
       CASE WHEN opened_to = '*' THEN 'high' ELSE 'medium' END AS severity
FROM calls
WHERE principal IS NOT NULL
  AND (opened_to = '*'
       OR coalesce(nullif(regexp_extract(opened_to, '([0-9]{12})', 1), ''), account) <> account)
`;

const permit = (user: string, principal: string) =>
  cloudtrail('lambda:AddPermission20150331v2', {
    user,
    request: { functionName: 'f', statementId: 's', action: 'lambda:InvokeFunction', principal },
  });

export const awsFunctionOpened: BuiltInDetection = {
  id: 'aws-function-opened',
  name: 'Lambda function opened to everyone or another account',
  description: "A function's resource policy lets everyone or another account invoke it.",
  category: 'custom',
  systemPrompt: `You judge resource policies that let everyone or another account invoke a Lambda function. This is a back door that needs no key.
Benign: a public webhook with a condition, or a partner's account. State what the function can do with its role.`,
  headline: 'Function {{function_name}} opened to {{opened_to}} by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'persistence', 'attack.t1546'],
  sample: {
    match: [permit('ada', '*'), permit('ben', OUTSIDE_ACCOUNT)],
    noMatch: [permit('cyn', 'events.amazonaws.com'), permit('dan', '111122223333')],
    entities: ['ada', 'ben'].map(userArn),
  },
};
