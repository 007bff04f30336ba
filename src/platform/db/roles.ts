import type pg from 'pg';

const statements = (user: string): string[] => [
  'create role tocsin_app nologin nosuperuser nobypassrls',
  'create role tocsin_system nologin nosuperuser nobypassrls',
  `grant tocsin_app, tocsin_system to "${user.replaceAll('"', '""')}"`,
];

/**
 * Makes the two roles of row-level security where they are missing and checks that this user may take them.
 * Roles belong to the whole server, so several installations and tests may race here: losing is success.
 * Throws an error whose message holds the statements that an administrator of the server has to run.
 */
export async function ensureRoles(client: pg.Client): Promise<void> {
  const version = Number((await client.query('show server_version_num')).rows[0].server_version_num);
  if (version < 150_000)
    throw new Error(`PostgreSQL 15 or newer is needed; this server is ${Math.floor(version / 10_000)}.`);
  const user = String((await client.query('select current_user as name')).rows[0].name);
  for (const role of ['tocsin_app', 'tocsin_system']) {
    try {
      await client.query('begin');
      await client.query(`set local role ${role}`);
      await client.query('rollback');
    } catch {
      await client.query('rollback');
      await makeRole(client, role, user);
    }
  }
  const { rows: strong } = await client.query(
    "select rolname from pg_roles where rolname in ('tocsin_app', 'tocsin_system') and (rolsuper or rolbypassrls)",
  );
  if (strong.length > 0)
    throw new Error(`The role ${strong[0].rolname} may not be superuser or bypass row-level security.`);
}

async function makeRole(client: pg.Client, role: string, user: string): Promise<void> {
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
      `The database user "${user}" can neither use nor make the role ${role}. Run as an administrator of that server:\n  ${statements(user).join(';\n  ')};`,
      { cause: error },
    );
  }
}
