import type { QueryTemplate } from './template.ts';

/** AWS API calls from CloudTrail. Denied calls are excluded unless the template is about them. */
export const cloud: readonly QueryTemplate[] = [
  {
    id: 'aws-user-or-key-made',
    techniques: ['T1136.003', 'T1136', 'T1098.001', 'T1098', 'T1078.004'],
    name: 'AWS user, key, or console password created',
    kind: 'cloudtrail',
    severity: 'medium',
    where: { action: '^(createuser|createaccesskey|createloginprofile|updateloginprofile)$' },
    except: { error: '.' },
    benign: 'the deployment pipeline and identity administrators; ask anyone else',
    match: ['CreateUser', 'CreateAccessKey'],
    noMatch: ['ListUsers', { action: 'CreateUser', error: 'AccessDenied' }],
  },
  {
    id: 'aws-data-destroyed',
    techniques: ['T1485', 'T1486', 'T1490', 'T1561', 'T1485.001'],
    name: 'AWS data, keys, or backups deleted',
    kind: 'cloudtrail',
    severity: 'high',
    where: {
      action:
        '^(deletebucket|deleteobjects|deletedbinstance|deletedbcluster|deletedbsnapshot|deletesnapshot|deletevolume|deletetable|schedulekeydeletion|deletebackupvault|deleterecoverypoint|disablekey|deletefilesystem)$',
    },
    except: { error: '.' },
    benign: 'cleanup jobs that delete the same kind of resource every day',
    match: ['DeleteDBCluster', 'ScheduleKeyDeletion'],
    noMatch: ['DescribeSnapshots'],
  },
  {
    id: 'aws-account-access-removed',
    techniques: ['T1531', 'T1098'],
    name: 'AWS identities removed or locked out',
    kind: 'cloudtrail',
    severity: 'high',
    where: {
      action:
        '^(deleteuser|deleteloginprofile|deactivatemfadevice|deletevirtualmfadevice|deleterole|leaveorganization|closeaccount|removeaccountfromorganization)$',
    },
    except: { error: '.' },
    benign: 'offboarding of employees through the usual pipeline',
    match: ['DeactivateMFADevice', 'DeleteLoginProfile'],
    noMatch: ['ListMFADevices'],
  },
  {
    id: 'aws-storage-discovery',
    techniques: ['T1619', 'T1530', 'T1213', 'T1580', 'T1613'],
    name: 'AWS storage, secrets, and images listed by one identity',
    kind: 'cloudtrail',
    severity: 'medium',
    where: {
      action:
        '^(listbuckets|getbucketacl|getbucketpolicy|listsecrets|describeparameters|describesnapshots|describeimages|describedbsnapshots|listtables|describerepositories|listclusters)$',
    },
    having: (sql) => ({
      columns: `count(DISTINCT ${sql('action')}) AS count`,
      condition: `count(DISTINCT ${sql('action')}) >= 5`,
    }),
    benign: 'inventory and security posture tools that do this every day',
    match: ['ListBuckets', 'ListSecrets', 'DescribeSnapshots', 'DescribeImages', 'ListTables'].map((action) => ({
      action,
      principal: 'MATCH',
    })),
    noMatch: ['ListBuckets', 'ListBuckets', 'GetObject'].map((action) => ({ action, principal: 'QUIET' })),
  },
  {
    id: 'aws-identity-discovery',
    techniques: ['T1087.004', 'T1069.003', 'T1087', 'T1069', 'T1526', 'T1538', 'T1201'],
    name: 'AWS identities and their permissions listed by one identity',
    kind: 'cloudtrail',
    severity: 'medium',
    where: {
      action:
        '^(listusers|listroles|listgroups|listattacheduserpolicies|listattachedrolepolicies|getaccountauthorizationdetails|listpolicies|getaccountsummary|simulateprincipalpolicy|listaccesskeys|getcalleridentity)$',
    },
    having: (sql) => ({
      columns: `count(DISTINCT ${sql('action')}) AS count`,
      condition: `count(DISTINCT ${sql('action')}) >= 4`,
    }),
    benign: 'inventory and security posture tools that do this every day',
    match: ['ListUsers', 'ListRoles', 'ListPolicies', 'GetCallerIdentity'].map((action) => ({
      action,
      principal: 'MATCH',
    })),
    noMatch: ['GetCallerIdentity', 'ListUsers'].map((action) => ({ action, principal: 'QUIET' })),
  },
  {
    id: 'aws-refused-calls',
    techniques: ['T1580', 'T1526', 'T1087.004', 'T1110', 'T1078.004'],
    name: 'AWS identity denied far more often than usual',
    kind: 'cloudtrail',
    needs: ['error'],
    category: 'baseline_anomaly',
    severity: 'medium',
    where: {},
    having: (sql) => ({
      columns: `count(*) FILTER (regexp_matches(lower(${sql('error')}), 'denied|unauthorized')) AS count`,
      condition: 'true',
    }),
    benign: 'a new deployment whose role lacks a permission',
    match: [],
    noMatch: ['ListUsers'],
  },
  {
    id: 'aws-image-implanted',
    techniques: ['T1525', 'T1204.003', 'T1578', 'T1578.001', 'T1610'],
    name: 'AWS image or container image published',
    kind: 'cloudtrail',
    category: 'first_occurrence',
    severity: 'medium',
    where: { action: '^(putimage|registerimage|createimage|copyimage|importimage|registertaskdefinition)$' },
    except: { error: '.' },
    benign: 'the build pipeline, which does this every day',
    match: ['PutImage'],
    noMatch: ['BatchGetImage'],
  },
  {
    id: 'aws-token-borrowed',
    techniques: ['T1550.001', 'T1550', 'T1528', 'T1134', 'T1548.005', 'T1548'],
    name: 'AWS session or federation token requested by an identity for the first time',
    kind: 'cloudtrail',
    category: 'first_occurrence',
    severity: 'medium',
    where: {
      action:
        '^(getfederationtoken|getsessiontoken|assumerolewithsaml|assumerolewithwebidentity|createtoken|getsignintoken)$',
    },
    except: { error: '.' },
    benign: 'console sign-in through the organization’s identity provider',
    match: ['GetFederationToken'],
    noMatch: ['GetCallerIdentity'],
  },
];
