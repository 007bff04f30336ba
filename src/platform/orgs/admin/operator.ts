import { hostname } from 'node:os';
import { hashKey } from '../key-secret.ts';

/** Returns how records show the key of the installation: by the first 8 hexadecimal digits of its SHA-256 hash. */
export const nameAdminKey = (key: string | undefined): string =>
  `installation key ${hashKey(key ?? '')
    .toString('hex')
    .slice(0, 8)}`;

/** Returns how records show a command that ran on this machine. */
export const nameCommand = (command: string): string => `${command} on ${hostname()}`;
