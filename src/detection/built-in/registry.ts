import { accountTakeover } from './identity/account-takeover.ts';
import { awsAdminPolicyAttached } from './aws-identity/aws-admin-policy-attached.ts';
import { awsCloudtrailDisabled } from './aws-defense-evasion/aws-cloudtrail-disabled.ts';
import { awsCommandOnInstance } from './aws-workloads/aws-command-on-instance.ts';
import { awsComputeHijacked } from './aws-workloads/aws-compute-hijacked.ts';
import { awsConsoleLoginWithoutMfa } from './aws-identity/aws-console-login-without-mfa.ts';
import { awsCredentialForOtherUser } from './aws-identity/aws-credential-for-other-user.ts';
import { awsDataSharedOutside } from './aws-workloads/aws-data-shared-outside.ts';
import { awsDiscoveryBurst } from './aws-workloads/aws-discovery-burst.ts';
import { awsFunctionCodeOverwritten } from './aws-workloads/aws-function-code-overwritten.ts';
import { awsFunctionOpened } from './aws-workloads/aws-function-opened.ts';
import { awsGuardrailsRemoved } from './aws-defense-evasion/aws-guardrails-removed.ts';
import { awsInstanceRoleElsewhere } from './aws-identity/aws-instance-role-elsewhere.ts';
import { awsInstanceSecretsCollected } from './aws-identity/aws-instance-secrets-collected.ts';
import { awsLogBucketExpiry } from './aws-defense-evasion/aws-log-bucket-expiry.ts';
import { awsMonitoringRemoved } from './aws-defense-evasion/aws-monitoring-removed.ts';
import { awsNewRegion } from './aws-workloads/aws-new-region.ts';
import { awsNewUserMadeAdmin } from './aws-identity/aws-new-user-made-admin.ts';
import { awsOutsideTrust } from './aws-identity/aws-outside-trust.ts';
import { awsSecretsHarvested } from './aws-identity/aws-secrets-harvested.ts';
import { awsSecurityGroupOpened } from './aws-defense-evasion/aws-security-group-opened.ts';
import { passwordSpray } from './identity/password-spray.ts';
import { recoveryInhibited } from './endpoint/recovery-inhibited.ts';
import { signInNewCountry } from './identity/sign-in-new-country.ts';
import { uploadToNewDomain } from './network/upload-to-new-domain.ts';
import type { BuiltInDetection } from './built-in-detection.ts';

/** Every detection that ships with the project, by id. To add one, add a file and a line here. */
export const builtInDetections = {
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
} satisfies Record<string, BuiltInDetection>;

export type BuiltInId = keyof typeof builtInDetections;
