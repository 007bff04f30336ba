/** The key of the installation in tests, and the setting that makes it valid. */
export const adminKey = 'a-key-of-the-installation-for-tests';
export const adminEnv = { TOCSIN_ADMIN_KEY: adminKey };

/** Returns the headers with which a request to the path is authenticated as the operator, if the path is one of administration. */
export const adminHeadersFor = (path: string): Record<string, string> =>
  path.startsWith('/api/admin/') ? { authorization: `Bearer ${adminKey}` } : {};
