import { expect, test } from 'vitest';
import { spawnCredentials, parsePasswd } from './run-program.ts';

test('parses accounts of Linux and of macOS with its negative ids', () => {
  const text = '# comment\nroot:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533::/:/usr/sbin/nologin\n\nbroken\n';
  expect(parsePasswd(text)).toEqual([
    { name: 'root', uid: 0, gid: 0 },
    { name: 'nobody', uid: 65534, gid: 65533 },
  ]);
  const [nobody] = parsePasswd('nobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false');
  expect(nobody).toEqual({ name: 'nobody', uid: 4294967294, gid: 4294967294 });
  expect(spawnCredentials(nobody)).toEqual({ uid: -2, gid: -2 });
  expect(spawnCredentials(undefined)).toEqual({});
});
