import type { createProductCollector } from '../../extraction/products/product-collector.ts';
import { isObject, asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';

type Product = { vendor: string; product: string; version: string };

const productsMax = 20_000;
const depthMax = 30;

/** What each product id of a document's tree stands for (CSAF 2.0, 3.2.2). */
export function readProductTree(tree: JsonObject): Map<string, Product> {
  const found = new Map<string, Product>();
  const put = (of: unknown, product: Product): void => {
    const id = isObject(of) ? asText(of['product_id']) : undefined;
    if (id && found.size < productsMax) found.set(id, product);
  };
  const walk = (branch: JsonObject, at: Product, depth: number): void => {
    const name = asText(branch['name']) ?? '';
    const here = { ...at };
    if (branch['category'] === 'vendor') here.vendor = name;
    else if (branch['category'] === 'product_name' || branch['category'] === 'product_family') here.product = name;
    else if (branch['category'] === 'product_version' || branch['category'] === 'product_version_range')
      here.version = name;
    else if (here.product === '') here.product = name;
    put(branch['product'], here.product === '' ? { ...here, product: nameOf(branch['product']) } : here);
    if (depth < depthMax) for (const next of asObjects(branch['branches'])) walk(next, here, depth + 1);
  };
  for (const branch of asObjects(tree['branches'])) walk(branch, { vendor: '', product: '', version: '' }, 0);
  for (const one of asObjects(tree['full_product_names'])) put(one, { vendor: '', product: nameOf(one), version: '' });
  for (const relation of asObjects(tree['relationships'])) {
    const part = found.get(asText(relation['product_reference']) ?? '');
    const full = relation['full_product_name'];
    put(full, part ?? { vendor: '', product: nameOf(full), version: '' });
  }
  return found;
}

const nameOf = (product: unknown): string => (isObject(product) ? (asText(product['name']) ?? '') : '');

const affecting = ['known_affected', 'first_affected', 'last_affected'];

/** Adds the products that the document's vulnerabilities affect. */
export function addAffectedProducts(document: JsonObject, products: ReturnType<typeof createProductCollector>): void {
  const tree = readProductTree(isObject(document['product_tree']) ? document['product_tree'] : {});
  for (const vulnerability of asObjects(document['vulnerabilities'])) {
    const status = isObject(vulnerability['product_status']) ? vulnerability['product_status'] : {};
    for (const id of affecting.flatMap((name) => asTexts(status[name]))) {
      const product = tree.get(id);
      if (product) products.add(product.vendor, product.product, product.version ? [product.version] : []);
    }
  }
}
