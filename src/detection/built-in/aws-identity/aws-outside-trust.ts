import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, OUTSIDE_ACCOUNT, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL},
         coalesce(_event->>'$.requestParameters.roleName', _event->>'$.requestParameters.name',
                  _event->>'$.requestParameters.url') AS target,
         coalesce(_event->>'$.requestParameters.policyDocument',
                  _event->>'$.requestParameters.assumeRolePolicyDocument', '') AS policy
  FROM cloudtrail
  WHERE eventName IN ('UpdateAssumeRolePolicy', 'CreateRole', 'CreateTrustAnchor', 'CreateSAMLProvider',
                      'UpdateSAMLProvider', 'CreateOpenIDConnectProvider')
), trusts AS (
  SELECT principal, action, target, source_ip, error, account, _id, _time,
         unnest(list_distinct(CASE
           WHEN action IN ('UpdateAssumeRolePolicy', 'CreateRole') THEN list_concat(
             regexp_extract_all(policy, 'arn:aws[a-z-]*:iam::([0-9]{12}):', 1),
             regexp_extract_all(policy, '"(?:AWS|Principal)"\\s*:\\s*(?:\\[\\s*)?"([0-9]{12}|\\*)"', 1))
           ELSE ['an outside identity provider'] END)) AS trusted
  FROM calls
)
SELECT principal, action, target, trusted, source_ip, error, _id, _time,
       CASE WHEN action IN ('UpdateAssumeRolePolicy', 'CreateRole') THEN 'T1098.003' ELSE 'T1484.002' END AS technique,
       CASE WHEN trusted = '*' THEN 'critical' WHEN error IS NULL THEN 'high' ELSE 'medium' END AS severity
FROM trusts
WHERE principal IS NOT NULL AND trusted IS DISTINCT FROM account
`;

const trust = (aws: string) => JSON.stringify({ Statement: [{ Effect: 'Allow', Principal: { AWS: aws } }] });

export const awsOutsideTrust: BuiltInDetection = {
  id: 'aws-outside-trust',
  name: 'Role or account opened to outside identities',
  description:
    "A role's trust policy allows another account or everyone, or a new trust anchor or identity provider was created.",
  category: 'privilege_escalation',
  systemPrompt: `You judge new trust: a role that another account can assume, a certificate authority for Roles Anywhere, a SAML or OpenID Connect provider. A trusted party can return without any key of this account.
Benign: a known vendor's account with an external id, or the company's own identity provider. State the role and the trusted party.`,
  headline: '{{target}} opened to {{trusted}} by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'persistence', 'privilege-escalation', 'attack.t1098.003', 'attack.t1484.002'],
  sample: {
    match: [
      callAs('ada', 'iam:UpdateAssumeRolePolicy', {
        roleName: 'r',
        policyDocument: trust(`arn:aws:iam::${OUTSIDE_ACCOUNT}:root`),
      }),
      cloudtrail('iam:CreateRole', { user: 'ben', request: { roleName: 'r', assumeRolePolicyDocument: trust('*') } }),
      cloudtrail('rolesanywhere:CreateTrustAnchor', { user: 'cyn', request: { name: 'a' } }),
    ],
    noMatch: [
      callAs('dan', 'iam:CreateRole', { roleName: 'r', assumeRolePolicyDocument: trust('111122223333') }),
      callAs('dan', 'iam:UpdateAssumeRolePolicy', {
        roleName: 'r',
        policyDocument: '{"Statement":[{"Principal":{"Service":"ec2.amazonaws.com"}}]}',
      }),
    ],
    entities: ['ada', 'ben', 'cyn'].map(userArn),
  },
};
