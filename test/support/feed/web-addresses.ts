import fc from 'fast-check';

const some = (separator: string, ...parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 4 }).map((chosen) => chosen.join(separator));
const label = fc.string({ unit: fc.constantFrom(...'abz09'), minLength: 1, maxLength: 6 });

/** Web addresses with what a normal form changes. `fc.webUrl` takes ten milliseconds for each. */
export const webAddresses = fc
  .record({
    scheme: fc.constantFrom('http', 'https'),
    user: fc.constantFrom('', '', 'user:word@'),
    before: fc.constantFrom('', 'www.', 'm.', 'xn--bcher-kva.'),
    label,
    domain: fc.constantFrom('example', 'Example.co.uk', 'example:80', 'example:443', 'example:8443'),
    path: some('/', '', 'a', 'A%41', '..', ';x=1', '%2F', '~b', "c'(d)"),
    end: fc.constantFrom('', '/', '/index.html', '/index.html/', '/amp/'),
    query: some('&', '', 'utm_source=x', 'b=2', 'a=1', 'a=%20', 'fbclid', '?', 'a=b=c'),
    fragment: fc.constantFrom('', '#x', '#/a?b'),
  })
  .map(
    ({ scheme, user, before, label: name, domain, path, end, query, fragment }) =>
      `${scheme}://${user}${before}${name}.${domain}/${path}${end}${query && `?${query}`}${fragment}`,
  );
