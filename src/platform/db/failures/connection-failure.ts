/** Returns an error that says why the server at the URL of a setting cannot be used and what to do. Returns other errors unchanged. */
export function explainConnectionFailure(url: string, error: unknown, setting = 'DATABASE_URL'): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const advice = code === undefined ? undefined : describe(code, syscall, new URL(url));
  return advice === undefined ? error : new Error(`${setting}: ${advice}`, { cause: error });
}

function describe(code: string, syscall: string | undefined, { hostname, port, username, pathname }: URL) {
  const server = `${hostname}:${port || '5432'}`;
  const database = decodeURIComponent(pathname.slice(1)) || decodeURIComponent(username);
  const user = decodeURIComponent(username);
  switch (code) {
    case 'ECONNREFUSED':
      return `${server} refused the connection. Check that PostgreSQL runs there and accepts TCP connections (listen_addresses).`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host ${hostname} cannot be resolved. Check its name and the DNS of this machine.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `${server} does not respond. Check the address, the network and the firewall.`;
    case 'ENOENT':
      return syscall === 'connect' ? 'the socket of the server does not exist. Check that PostgreSQL runs.' : undefined;
    case '28P01':
      return `${server} rejects the password of the user ${user}.`;
    case '28000':
      return `${server} does not let the user ${user} in. Check that the role exists and may log in, and pg_hba.conf.`;
    case '3D000':
      return `the database ${database} does not exist on ${server}. Create it with: createdb -h ${hostname} -p ${port || '5432'} -U ${user} ${database}`;
    case '53300':
      return `${server} has no free connection. Raise max_connections or use a pooler.`;
    default:
      return undefined;
  }
}
