import { accountTakeover } from './account-takeover.ts';
import { awsAdminPolicyAttached } from './aws-admin-policy-attached.ts';
import { awsCloudtrailDisabled } from './aws-cloudtrail-disabled.ts';
import { awsCommandOnInstance } from './aws-command-on-instance.ts';
import { awsComputeHijacked } from './aws-compute-hijacked.ts';
import { awsConsoleLoginWithoutMfa } from './aws-console-login-without-mfa.ts';
import { awsCredentialForOtherUser } from './aws-credential-for-other-user.ts';
import { awsDataSharedOutside } from './aws-data-shared-outside.ts';
import { awsDiscoveryBurst } from './aws-discovery-burst.ts';
import { awsFunctionCodeOverwritten } from './aws-function-code-overwritten.ts';
import { awsFunctionOpened } from './aws-function-opened.ts';
import { awsGuardrailsRemoved } from './aws-guardrails-removed.ts';
import { awsInstanceRoleElsewhere } from './aws-instance-role-elsewhere.ts';
import { awsInstanceSecretsCollected } from './aws-instance-secrets-collected.ts';
import { awsLogBucketExpiry } from './aws-log-bucket-expiry.ts';
import { awsMonitoringRemoved } from './aws-monitoring-removed.ts';
import { awsNewRegion } from './aws-new-region.ts';
import { awsNewUserMadeAdmin } from './aws-new-user-made-admin.ts';
import { awsOutsideTrust } from './aws-outside-trust.ts';
import { awsSecretsHarvested } from './aws-secrets-harvested.ts';
import { awsSecurityGroupOpened } from './aws-security-group-opened.ts';
import { passwordSpray } from './password-spray.ts';
import { recoveryInhibited } from './recovery-inhibited.ts';
import { signInNewCountry } from './sign-in-new-country.ts';
import { uploadToNewDomain } from './upload-to-new-domain.ts';
import type { BuiltinDetection } from './builtin.ts';

/** Every detection that ships with the project, by id. A new one is one file and one line here. */
export const builtinDetections = {
  'sign-in-new-country': signInNewCountry,
  'account-takeover': accountTakeover,
  'password-spray': passwordSpray,
  'upload-to-new-domain': uploadToNewDomain,
  'recovery-inhibited': recoveryInhibited,
  'aws-admin-policy-attached': awsAdminPolicyAttached,
  'aws-cloudtrail-disabled': awsCloudtrailDisabled,
  'aws-command-on-instance': awsCommandOnInstance,
  'aws-compute-hijacked': awsComputeHijacked,
  'aws-console-login-without-mfa': awsConsoleLoginWithoutMfa,
  'aws-credential-for-other-user': awsCredentialForOtherUser,
  'aws-data-shared-outside': awsDataSharedOutside,
  'aws-discovery-burst': awsDiscoveryBurst,
  'aws-function-code-overwritten': awsFunctionCodeOverwritten,
  'aws-function-opened': awsFunctionOpened,
  'aws-guardrails-removed': awsGuardrailsRemoved,
  'aws-instance-role-elsewhere': awsInstanceRoleElsewhere,
  'aws-instance-secrets-collected': awsInstanceSecretsCollected,
  'aws-log-bucket-expiry': awsLogBucketExpiry,
  'aws-monitoring-removed': awsMonitoringRemoved,
  'aws-new-region': awsNewRegion,
  'aws-new-user-made-admin': awsNewUserMadeAdmin,
  'aws-outside-trust': awsOutsideTrust,
  'aws-secrets-harvested': awsSecretsHarvested,
  'aws-security-group-opened': awsSecurityGroupOpened,
} satisfies Record<string, BuiltinDetection>;

export type BuiltinId = keyof typeof builtinDetections;
