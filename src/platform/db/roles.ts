import pg from 'pg';

/** The two roles of row-level security. Every statement of the program runs as one of them. */
const roles = ['tocsin_app', 'tocsin_system'];

/**
 * Creates the two roles of row-level security if they are missing, and checks everything else that migrations need. Roles belong to the whole
 * server, so several installations may race here: a role that already exists is not an error. Throws an error whose message contains the
 * statements that a server administrator has to run.
 */
export async function ensureRoles(client: pg.Client): Promise<void> {
  for (const role of roles) if (!(await canAssume(client, role))) await createRole(client, role);
  const obstacle = await findMigrationObstacle(client);
  if (obstacle !== undefined) throw new Error(obstacle);
}

/** Returns what keeps the current user from migrating the database, with what an administrator has to do, or undefined. Changes nothing. */
export async function findMigrationObstacle(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ version: number; encoding: string; user: string; mayCreateRoles: boolean }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding, current_user as user,
       rolsuper or rolcreaterole as "mayCreateRoles" from pg_roles where rolname = current_user`,
  );
  const { version, encoding, user, mayCreateRoles } = rows[0]!;
  if (version < 150_000)
    return `PostgreSQL 15 or newer is required. This server runs version ${Math.floor(version / 10_000)}.`;
  if (encoding !== 'UTF8') return `The encoding of the database is ${encoding}. Create one with the encoding UTF8.`;
  return (await findRoleObstacle(client, { user, mayCreateRoles })) ?? (await findOwnerObstacle(client, user));
}

async function findRoleObstacle(
  client: pg.Client,
  { user, mayCreateRoles }: { user: string; mayCreateRoles: boolean },
): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string; isPrivileged: boolean }>(
    `select rolname as name, rolsuper or rolbypassrls as "isPrivileged" from pg_roles where rolname = any($1)`,
    [roles],
  );
  const privileged = rows.find(({ isPrivileged }) => isPrivileged);
  if (privileged) return `The role ${privileged.name} must not be a superuser or bypass row-level security.`;
  for (const role of roles) {
    const isCreatable = mayCreateRoles && rows.every(({ name }) => name !== role);
    if (!isCreatable && !(await canAssume(client, role))) return describeMissingRole(user, role);
  }
  return undefined;
}

async function findOwnerObstacle(client: pg.Client, user: string): Promise<string | undefined> {
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
  const { rows } = await client.query<{ user: string }>('select current_user as user');
  const { user } = rows[0]!;
  try {
    await client.query(
      `do $$ begin create role ${role} nologin nosuperuser nobypassrls; exception when duplicate_object or unique_violation then null; end $$`,
    );
    await client.query(`grant ${role} to ${quote(user)}`);
  } catch (error) {
    throw new Error(describeMissingRole(user, role), { cause: error });
  }
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
