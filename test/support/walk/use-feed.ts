import { kevCatalogWith } from '../feed/kev-document.ts';
import { whileServing } from '../listen.ts';
import type { ApiCalls } from './api-calls.ts';

/** Calls the operations for the sources of the feed, its items and what the organization decides about them. */
export async function useFeed({ get, post, put, remove }: ApiCalls, mark: string): Promise<void> {
  await get('/api/feed/catalogue');
  await post('/api/feed/sources/test', { kind: 'csv', url: 'http://127.0.0.1:1/list' });
  const { sources } = await get('/api/feed/sources');
  const { id } = sources[0];
  // A second version of the catalog: one new entry and changed texts.
  await whileServing(kevCatalogWith(`${mark} again`, 4), async (url) => {
    await put(`/api/feed/sources/${id}`, { url, license: 'none', schedule: '5 * * * *' });
    await post(`/api/feed/sources/${id}/pull`);
  });
  await get(`/api/feed/sources/${id}`);
  const { items } = await get(`/items?perPage=2&page=2&source=${mark}&unknown=1&platform=none&relevancyMode=relevant`);
  await get('/stats');
  const all = items.length > 0 ? items : (await get('/items?status=corrected')).items;
  for (const base of ['/items', '/api/feed/items']) {
    await get(`${base}/${all[0].id}`);
    await get(`${base}/${all[0].id}/text?version=1`);
  }
  await get(`/api/feed/items/${all[0].id}/reading`);
  await get(`/api/feed/items/${all[0].id}/rules`);
  await get('/api/feed/items?severity=low&perPage=2');
  await get('/api/feed/stats');
  const [one, two] = (await get('/items?status=corrected')).items;
  await post(`/api/feed/items/${one.id}/merge`, { into: two.id });
  await post(`/api/feed/items/${one.id}/split`);
  await post(`/api/feed/items/${one.id}/retract`, { reason: 'made up' });
  await remove(`/api/feed/items/${one.id}/retract`);
  await put(`/api/feed/items/${one.id}/override`, { severity: 'low', relevance: { verdict: 'relevant' } });
  await put('/api/feed/profile', {
    keywords: [mark],
    platforms: ['win'],
    requirements: [{ name: 'Ransomware in hospitals', keywords: ['ransomware'], sectors: ['hospitals'] }],
  });
  await get('/api/feed/profile');
  await put('/api/feed/reader', { modelAlias: null });
  await get('/api/feed/reader');
  await get(`/api/feed/items/${one.id}/sightings`);
  await get('/api/feed/sweeps');
  await post('/api/feed/items', { text: `${mark} saw evil-host[.]top on Monday.` });
  await get(`/items?q=${mark}&duplicates=hide&asOf=${(await get('/items')).outputs.asOf}`);
  await get('/api/indicators?value=EVIL-host[.]top');
  await post('/api/indicators/lookup', { values: ['evil-host.top', 'nowhere.example'] });
  await remove(`/api/feed/sources/${id}`);
}

/** Calls the operations that hand the feed to other products. */
export async function useExports({ get }: ApiCalls): Promise<void> {
  const base = '/api/feed/export';
  for (const path of ['stix?limit=2', 'rss?limit=2', 'feed.json?limit=2', 'csv?limit=2&maxTlp=RED'])
    await get(`${base}/${path}`);
  const manifest = await get(`${base}/misp/manifest.json?limit=2&maxTlp=RED`);
  await get(`${base}/misp/${Object.keys(manifest)[0]}.json`);
  await get(`${base}/blocklist?type=domain&minConfidence=0.1`);
  const collections = '/taxii2/root/collections';
  const all = `${collections}/all`;
  for (const path of ['/taxii2', '/taxii2/root', collections, all]) await get(`${path}/`);
  const { objects } = await get(`${all}/objects/?limit=2`);
  await get(`${all}/manifest/?limit=2`);
  await get(`${all}/objects/${objects[0].id}/`);
  await get(`${all}/objects/${objects[0].id}/versions/`);
}
