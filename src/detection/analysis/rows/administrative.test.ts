import { expect, test } from 'vitest';
import { isAdministrative } from './administrative.ts';

test.each([
  'CreateUser',
  'CreateLoginProfile',
  'AttachRolePolicy',
  'StopLogging',
  'DeactivateMFADevice',
  'Add member to role.',
  'Microsoft.Authorization/roleAssignments/write',
  'google.iam.admin.v1.CreateServiceAccountKey',
  'SetIamPolicy',
  'user.account.privilege.grant',
])('%s is administrative', (operation) => {
  expect(isAdministrative('eventName', operation)).toBe(true);
});

test.each([
  'CreateFunction',
  'PutObject',
  'PutMetricData',
  'CreateLogGroup',
  'GetSecretValue',
  'DescribeUsers',
  'AssumeRole',
])('%s is not', (operation) => {
  expect(isAdministrative('eventName', operation)).toBe(false);
});

test('other fields state no operation', () => {
  expect(isAdministrative('subject', 'Create user')).toBe(false);
});
