import pg from 'pg';

/** The two roles of row-level security. Every statement of the program runs as one of them. */
const roles = ['tocsin_app', 'tocsin_system'];

/**
 * Creates the two roles of row-level security if they are missing, and checks everything else that migrations need. Roles belong to the whole
 * server, so several installations may race here: a role that already exists is not an error. Throws an error whose message contains the
 * statements that a server administrator has to run.
 */
export async function ensureRoles(client: pg.Client): Promise<void> {
  rejectObstacle(await findServerObstacle(client));
  for (const role of roles) if (!(await canAssume(client, role))) await createRole(client, role);
  rejectObstacle((await findRoleObstacle(client)) ?? (await findOwnerObstacle(client)));
}

function rejectObstacle(obstacle: string | undefined): void {
  if (obstacle !== undefined) throw new Error(obstacle);
}

/** Returns what keeps the current user from migrating the database, with what an administrator has to do, or undefined. Changes nothing. */
export async function findMigrationObstacle(client: pg.Client): Promise<string | undefined> {
  return (await findServerObstacle(client)) ?? (await findRoleObstacle(client)) ?? (await findOwnerObstacle(client));
}

async function findServerObstacle(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  );
  const { version, encoding } = rows[0]!;
  if (version < 150_000)
    return `PostgreSQL 15 or newer is required. This server runs version ${Math.floor(version / 10_000)}.`;
  return encoding === 'UTF8'
    ? undefined
    : `The encoding of the database is ${encoding}. Create one with the encoding UTF8.`;
}

async function findRoleObstacle(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string; isPrivileged: boolean }>(
    `select rolname as name, rolsuper or rolbypassrls as "isPrivileged" from pg_roles where rolname = any($1)`,
    [roles],
  );
  const privileged = rows.find(({ isPrivileged }) => isPrivileged);
  if (privileged) return `The role ${privileged.name} must not be a superuser or bypass row-level security.`;
  const { name: user, mayCreateRoles } = await readUser(client);
  for (const role of roles) {
    const isCreatable = mayCreateRoles && rows.every(({ name }) => name !== role);
    if (!isCreatable && !(await canAssume(client, role))) return describeMissingRole(user, role);
  }
  return undefined;
}

async function findOwnerObstacle(client: pg.Client): Promise<string | undefined> {
  const { name: user } = await readUser(client);
  const { rows } = await client.query<{ mayCreate: boolean; foreign: string | null; database: string }>(
    `select has_schema_privilege('public', 'create') as "mayCreate", current_database() as database,
       (select min(relname) from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
          and not pg_has_role(relowner, 'usage')) as foreign`,
  );
  const { mayCreate, foreign, database } = rows[0]!;
  if (!mayCreate)
    return `The database user "${user}" may not create tables in the schema public. Run as an administrator of that server:\n  alter database ${quote(database)} owner to ${quote(user)};`;
  return foreign === null
    ? undefined
    : `The database user "${user}" does not own the table ${foreign}, so it cannot migrate it. Connect as the owner of the tables.`;
}

async function createRole(client: pg.Client, role: string): Promise<void> {
  const { name: user } = await readUser(client);
  try {
    await client.query(
      `do $$ begin create role ${role} nologin nosuperuser nobypassrls; exception when duplicate_object or unique_violation then null; end $$`,
    );
    await client.query(`grant ${role} to ${quote(user)}`);
  } catch (error) {
    throw new Error(describeMissingRole(user, role), { cause: error });
  }
}

async function readUser(client: pg.Client): Promise<{ name: string; mayCreateRoles: boolean }> {
  const { rows } = await client.query<{ name: string; mayCreateRoles: boolean }>(
    `select rolname as name, rolsuper or rolcreaterole as "mayCreateRoles" from pg_roles where rolname = current_user`,
  );
  return rows[0]!;
}

async function canAssume(client: pg.Client, role: string): Promise<boolean> {
  try {
    await client.query('begin');
    await client.query(`set local role ${role}`);
    return true;
  } catch {
    return false;
  } finally {
    await client.query('rollback');
  }
}

function describeMissingRole(user: string, role: string): string {
  const statements = [
    ...roles.map((name) => `create role ${name} nologin nosuperuser nobypassrls`),
    `grant ${roles.join(', ')} to ${quote(user)}`,
  ];
  return `The database user "${user}" can neither use nor create the role ${role}. Run as an administrator of that server:\n  ${statements.join(';\n  ')};`;
}

const quote = pg.escapeIdentifier;
