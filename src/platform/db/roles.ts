import type pg from 'pg';

const setupStatements = (user: string): string[] => [
  'create role tocsin_app nologin nosuperuser nobypassrls',
  'create role tocsin_system nologin nosuperuser nobypassrls',
  `grant tocsin_app, tocsin_system to "${user.replaceAll('"', '""')}"`,
];

/**
 * Creates the two roles of row-level security if they are missing and checks that the current user may assume them.
 * Roles belong to the whole server, so several installations may race here: a role that already exists is not an error.
 * Throws an error whose message contains the statements that a server administrator has to run.
 */
export async function ensureRoles(client: pg.Client): Promise<void> {
  const version = Number((await client.query('show server_version_num')).rows[0].server_version_num);
  if (version < 150_000)
    throw new Error(`PostgreSQL 15 or newer is required. This server runs version ${Math.floor(version / 10_000)}.`);
  const user = String((await client.query('select current_user as name')).rows[0].name);
  for (const role of ['tocsin_app', 'tocsin_system']) {
    try {
      await client.query('begin');
      await client.query(`set local role ${role}`);
      await client.query('rollback');
    } catch {
      await client.query('rollback');
      await createRole(client, role, user);
    }
  }
  const { rows: privileged } = await client.query(
    "select rolname from pg_roles where rolname in ('tocsin_app', 'tocsin_system') and (rolsuper or rolbypassrls)",
  );
  if (privileged.length > 0)
    throw new Error(`The role ${privileged[0].rolname} must not be a superuser or bypass row-level security.`);
}

async function createRole(client: pg.Client, role: string, user: string): Promise<void> {
  try {
    await client.query(
      `do $$ begin create role ${role} nologin nosuperuser nobypassrls; exception when duplicate_object or unique_violation then null; end $$`,
    );
    await client.query(`grant ${role} to "${user.replaceAll('"', '""')}"`);
    await client.query('begin');
    await client.query(`set local role ${role}`);
    await client.query('rollback');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw new Error(
      `The database user "${user}" can neither use nor create the role ${role}. Run as an administrator of that server:\n  ${setupStatements(user).join(';\n  ')};`,
      { cause: error },
    );
  }
}
