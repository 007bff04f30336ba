import { describe, expect, test } from 'vitest';
import { createWarningListLookup } from '../../../reference-data/warning-lists.ts';
import { findBenignReason } from './benign-values.ts';

const installed = createWarningListLookup([
  {
    id: 'alexa',
    name: 'Top sites',
    type: 'hostname',
    list: ['popular.org', 'amazonaws.com', 'sharepoint.com', 'web.app'],
  },
]);

describe('a harmless value', () => {
  test.each([
    ['domain', 'google.com', 'well-known host'],
    ['domain', 'www.google.com', 'well-known host'],
    ['domain', 'localhost', 'reserved name'],
    ['domain', 'obfuscator.io', 'software or documentation'],
    ['domain', 'www.welivesecurity.com', 'security publisher'],
    ['domain', 'sharepoint.com', 'shared hosting'],
    ['domain', 's3.amazonaws.com', 'shared hosting'],
    ['domain', 's3.eu-west-1.amazonaws.com', 'shared hosting'],
    ['domain', 'cloudapp.azure.com', 'shared hosting'],
    ['domain', 'blob.core.windows.net', 'shared hosting'],
    ['domain', 'github.io', 'shared hosting'],
    ['domain', 'fonts.googleapis.com', 'well-known host'],
    ['domain', 'gtfobins.github.io', 'security publisher'],
    ['domain', 'web.app', 'shared hosting'],
    ['domain', 'a.popular.org', 'Top sites'],
    ['url', 'https://nodejs.org/dist/v22.1.0/node-v22.1.0-x64.msi', 'software or documentation'],
    ['url', 'https://learn.microsoft.com/en-us/windows/', 'software or documentation'],
    ['url', 'https://www.bleepingcomputer.com/news/security/a/', 'security publisher'],
    ['url', 'https://www.google.com/', 'well-known host'],
    ['url', 'http://192.168.1.1/a', 'private address'],
    ['ipv4', '10.0.0.1', 'private address'],
    ['ipv4', '127.0.0.1', 'loopback address'],
    ['ipv4', '8.8.8.8', 'public resolver'],
    ['md5', 'd41d8cd98f00b204e9800998ecf8427e', 'empty file'],
    ['file_name', 'svchost.exe', 'system file'],
  ])('%s %s: %s', (type, value, reason) => {
    expect(findBenignReason(type, value, installed)).toBe(reason);
  });
});

describe('a hostile value', () => {
  test.each([
    ['domain', 'zq7-drop.eastus.cloudapp.azure.com'],
    ['domain', 'zq7-drop.s3.amazonaws.com'],
    ['domain', 'zq7-drop.s3.eu-west-1.amazonaws.com'],
    ['domain', 'ec2-52-0-2-1.compute-1.amazonaws.com'],
    ['domain', 'zq7-my.sharepoint.com'],
    ['domain', 'zq7.blob.core.windows.net'],
    ['domain', 'zq7.azurewebsites.net'],
    ['domain', 'zq7.web.app'],
    ['domain', 'zq7.wordpress.com'],
    ['domain', 'zq7.github.io'],
    ['domain', 'notgoogle.com'],
    ['domain', 'google.com.zq7.top'],
    // Reserved for documentation, and therefore used in exercises.
    ['domain', 'c2.bad.example'],
    ['ipv4', '203.0.113.7'],
    // A page that somebody else published on a well-known host.
    ['url', 'https://zq7-my.sharepoint.com/personal/a'],
    ['url', 'https://s3.amazonaws.com/zq7-drop/a.exe'],
    ['url', 'https://github.com/zq7/a/raw/main/a.exe'],
    ['url', 'https://www.google.com/url?q=zq7'],
    ['url', 'https://popular.org/wp-content/a.exe'],
  ])('is not taken for a harmless %s: %s', (type, value) => {
    expect(findBenignReason(type, value, installed)).toBeUndefined();
  });
});
