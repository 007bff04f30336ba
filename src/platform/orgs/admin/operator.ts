import { hostname } from 'node:os';
import { hashKey } from '../key-secret.ts';

/** Returns the name of the installation's key in records: the first 8 hexadecimal digits of its SHA-256 hash. */
export const nameAdminKey = (key: string | undefined): string =>
  `installation key ${hashKey(key ?? '')
    .toString('hex')
    .slice(0, 8)}`;

/** Returns the name in records of a command that ran on this machine. */
export const nameCommand = (command: string): string => `${command} on ${hostname()}`;
